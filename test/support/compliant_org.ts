import {
  availableValue,
  type Evidence,
  type JsonList,
  type PolicyWithRules,
} from "../../scanner/evidence/artifacts.ts";
import { aRole, bannerPage, compliantArtifacts } from "./artifact_builders.ts";
import { certificateAuthorities } from "../../practice_org/contents/new_objects.ts";
import type { Answers } from "./map_idp_client.ts";

/** The requests of the collectors. */
export const paths = {
  apps: "/api/v1/apps?limit=200",
  adminConsole: "/api/v1/apps?filter=name%20eq%20%22saasure%22&limit=200",
  dashboard: "/api/v1/apps?filter=name%20eq%20%22okta_enduser%22&limit=200",
  settings: "/api/v1/first-party-app-settings/admin-console",
  signOn: "/api/v1/policies?type=OKTA_SIGN_ON",
  password: "/api/v1/policies?type=PASSWORD",
  lifecycle: "/api/v1/policies?type=USER_LIFECYCLE",
  authenticators: "/api/v1/authenticators",
  brands: "/api/v1/brands?expand=domains&limit=200",
  zones: "/api/v1/zones?limit=200",
  tokens: "/api/v1/api-tokens",
  groups: "/api/v1/groups?filter=type%20eq%20%22BUILT_IN%22&limit=200",
  logStreams: "/api/v1/logStreams?limit=200",
  idps: "/api/v1/idps?type=X509&limit=200",
  accessPolicies: "/api/v1/policies?type=ACCESS_POLICY",
  samlIdps: "/api/v1/idps?type=SAML2&limit=200",
};

const { admin_console_app: consoleApp, dashboard_app: dashboardApp, ...whole } = compliantArtifacts();

/** The org of `compliantArtifacts`, as the provider answers. */
export const compliantOrg: Answers = {
  [paths.signOn]: policiesOf(whole.global_session_policies),
  [paths.password]: listOf(whole.password_policies),
  [paths.lifecycle]: policiesOf(whole.user_lifecycle_policies),
  ...rulesOf(whole.global_session_policies),
  ...rulesOf(whole.user_lifecycle_policies),
  ...Object.fromEntries(
    Object.entries(availableValue(whole.app_policy_rules) ?? {}).map(([id, rules]) => [rulesPath(id), listOf(rules)]),
  ),
  [paths.apps]: listOf(whole.apps),
  [paths.adminConsole]: [availableValue(consoleApp)?.app ?? {}],
  [paths.dashboard]: [availableValue(dashboardApp)?.app ?? {}],
  [paths.settings]: availableValue(whole.admin_console_settings) ?? {},
  [paths.authenticators]: listOf(whole.authenticators),
  [paths.brands]: (availableValue(whole.brand_sign_in_pages) ?? []).map(({ brand }) => brand),
  "/api/v1/brands/bnd1/pages/sign-in/customized": { pageContent: bannerPage },
  [paths.zones]: listOf(whole.network_zones),
  [paths.tokens]: listOf(whole.api_tokens),
  "/api/v1/users/00u1": { id: "00u1", profile: { login: "siem@acme.example" } },
  "/api/v1/users/00u1/roles": [aRole()],
  "/api/v1/users/00u1/groups": [{ id: "00g1", type: "BUILT_IN", profile: { name: "Everyone" } }],
  "/api/v1/groups/00g1/roles": [],
  "/api/v1/groups/00gEveryone": listOf(whole.automation_groups)[0] ?? {},
  [paths.groups]: listOf(whole.built_in_groups),
  [paths.logStreams]: listOf(whole.log_streams),
  [paths.idps]: (availableValue(whole.smart_card_idps) ?? []).map(({ idp }) => idp),
  [paths.accessPolicies]: listOf(whole.access_policies),
  [paths.samlIdps]: listOf(whole.saml_idps),
  "/api/v1/idps/credentials/keys/kid1": certificateAuthorities.dod.key,
};

function listOf(evidence: Evidence<JsonList>): JsonList {
  return availableValue(evidence) ?? [];
}

function policiesOf(evidence: Evidence<readonly PolicyWithRules[]>): JsonList {
  return (availableValue(evidence) ?? []).map(({ policy }) => policy);
}

function rulesOf(evidence: Evidence<readonly PolicyWithRules[]>): Answers {
  const policies = availableValue(evidence) ?? [];
  return Object.fromEntries(
    policies.map(({ policy, rules }) => [rulesPath(policy["id"]), rules === null ? [] : listOf(rules)]),
  );
}

function rulesPath(policyId: unknown): string {
  return `/api/v1/policies/${String(policyId)}/rules`;
}
