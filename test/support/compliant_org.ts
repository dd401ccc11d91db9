import {
  aCatchAll,
  aDefaultRule,
  aPasswordPolicy,
  aRole,
  aSessionPolicy,
  aSessionRule,
  aSmartCardIdp,
  aToken,
  aZone,
  adminConsoleApp,
  anAccessRule,
  anAction,
  anAnonymizerZone,
  anApp,
  anAutomation,
  bannerPage,
  dashboardApp,
} from "./artifact_builders.ts";
import { smartCardIdp } from "../../practice_org/objects/smart_card_idp.ts";
import type { Answers } from "./map_idp_client.ts";

/** What the collectors ask for. */
export const paths = {
  apps: "/api/v1/apps?limit=200",
  adminConsole: "/api/v1/apps?filter=name%20eq%20%22saasure%22&limit=200",
  dashboard: "/api/v1/apps?filter=name%20eq%20%22okta_enduser%22&limit=200",
  settings: "/api/v1/first-party-app-settings/admin-console",
  signOn: "/api/v1/policies?type=OKTA_SIGN_ON",
  password: "/api/v1/policies?type=PASSWORD",
  lifecycle: "/api/v1/policies?type=USER_LIFECYCLE",
  authenticators: "/api/v1/authenticators",
  brands: "/api/v1/brands?limit=200",
  zones: "/api/v1/zones?limit=200",
  tokens: "/api/v1/api-tokens",
  logStreams: "/api/v1/logStreams?limit=200",
  idps: "/api/v1/idps?type=X509&limit=200",
};

/** An org in which every check PASSes, as the provider answers. */
export const compliantOrg: Answers = {
  [paths.signOn]: [aSessionPolicy()],
  "/api/v1/policies/00p1/rules": [aSessionRule(), aDefaultRule()],
  [paths.password]: [aPasswordPolicy()],
  [paths.lifecycle]: [anAutomation()],
  "/api/v1/policies/rstAuto/rules": [anAction()],
  [paths.apps]: [adminConsoleApp, dashboardApp, anApp()],
  [paths.adminConsole]: [adminConsoleApp],
  [paths.dashboard]: [dashboardApp],
  "/api/v1/policies/rst1/rules": [anAccessRule(), aCatchAll()],
  [paths.settings]: { sessionIdleTimeoutMinutes: 15 },
  [paths.authenticators]: [
    { id: "aut1", key: "smart_card_idp", status: "ACTIVE" },
    { id: "aut2", key: "okta_verify", status: "ACTIVE", settings: { compliance: { fips: "REQUIRED" } } },
  ],
  [paths.brands]: [{ id: "bnd1", name: "acme" }],
  "/api/v1/brands/bnd1/pages/sign-in/customized": { pageContent: bannerPage },
  [paths.zones]: [aZone(), anAnonymizerZone()],
  [paths.tokens]: [aToken()],
  "/api/v1/users/00u1/roles": [aRole()],
  "/api/v1/users/00u1/groups": [{ id: "00g1", profile: { name: "Everyone" } }],
  "/api/v1/groups/00g1/roles": [],
  [paths.logStreams]: [{ id: "0oaLog", name: "SIEM", status: "ACTIVE" }],
  [paths.idps]: [aSmartCardIdp()],
  "/api/v1/idps/credentials/keys/kid1": smartCardIdp({ url: "", nowMs: 0 }, { name: "DoD CAC", issuedBy: "dod" }).key,
};
