import { availableValue, entriesOf } from "../../scanner/evidence/artifacts.ts";
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

const whole = compliantArtifacts();
const [sessions, automations] = [entriesOf(whole.global_session_policies), entriesOf(whole.user_lifecycle_policies)];
const rulesById = [
  ...[...sessions, ...automations].map(({ policy, rules }) => [String(policy["id"]), rules] as const),
  ...Object.entries(availableValue(whole.app_policy_rules) ?? {}),
];

/** The org of `compliantArtifacts`, as the provider answers. */
export const compliantOrg: Answers = {
  [paths.signOn]: sessions.map(({ policy }) => policy),
  [paths.password]: entriesOf(whole.password_policies),
  [paths.lifecycle]: automations.map(({ policy }) => policy),
  ...Object.fromEntries(rulesById.map(([id, rules]) => [`/api/v1/policies/${id}/rules`, entriesOf(rules)])),
  [paths.apps]: entriesOf(whole.apps),
  [paths.adminConsole]: [availableValue(whole.admin_console_app)?.app ?? {}],
  [paths.dashboard]: [availableValue(whole.dashboard_app)?.app ?? {}],
  [paths.settings]: availableValue(whole.admin_console_settings) ?? {},
  [paths.authenticators]: entriesOf(whole.authenticators),
  [paths.brands]: entriesOf(whole.brand_sign_in_pages).map(({ brand }) => brand),
  "/api/v1/brands/bnd1/pages/sign-in/customized": { pageContent: bannerPage },
  [paths.zones]: entriesOf(whole.network_zones),
  [paths.tokens]: entriesOf(whole.api_tokens),
  "/api/v1/users/00u1": { id: "00u1", profile: { login: "siem@acme.example" } },
  "/api/v1/users/00u1/roles": [aRole()],
  "/api/v1/users/00u1/groups": [{ id: "00g1", type: "BUILT_IN", profile: { name: "Everyone" } }],
  "/api/v1/groups/00g1/roles": [],
  "/api/v1/groups/00gEveryone": entriesOf(whole.automation_groups)[0] ?? {},
  [paths.groups]: entriesOf(whole.built_in_groups),
  [paths.logStreams]: entriesOf(whole.log_streams),
  [paths.idps]: entriesOf(whole.smart_card_idps).map(({ idp }) => idp),
  [paths.accessPolicies]: entriesOf(whole.access_policies),
  [paths.samlIdps]: entriesOf(whole.saml_idps),
  "/api/v1/idps/credentials/keys/kid1": certificateAuthorities.dod.key,
};
