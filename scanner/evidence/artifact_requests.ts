import type { ArtifactName } from "./artifacts.ts";

/** The requests that each artifact is read with, for people. `{id}` stands for each object of the list before it. */
export const artifactRequests: Readonly<Record<ArtifactName, string>> = {
  global_session_policies: "GET /api/v1/policies?type=OKTA_SIGN_ON, GET /api/v1/policies/{id}/rules",
  password_policies: "GET /api/v1/policies?type=PASSWORD",
  user_lifecycle_policies: "GET /api/v1/policies?type=USER_LIFECYCLE, GET /api/v1/policies/{id}/rules",
  automation_groups: "GET /api/v1/groups/{id}",
  apps: "GET /api/v1/apps",
  app_policy_rules: "GET /api/v1/policies/{id}/rules",
  access_policies: "GET /api/v1/policies?type=ACCESS_POLICY",
  admin_console_app: 'GET /api/v1/apps?filter=name eq "saasure", GET /api/v1/policies/{id}/rules',
  dashboard_app: 'GET /api/v1/apps?filter=name eq "okta_enduser", GET /api/v1/policies/{id}/rules',
  admin_console_settings: "GET /api/v1/first-party-app-settings/admin-console",
  authenticators: "GET /api/v1/authenticators",
  brand_sign_in_pages: "GET /api/v1/brands?expand=domains, GET /api/v1/brands/{id}/pages/sign-in/customized",
  network_zones: "GET /api/v1/zones",
  api_tokens: "GET /api/v1/api-tokens",
  api_token_owners:
    "GET /api/v1/users/{id}, GET /api/v1/users/{id}/roles, GET /api/v1/users/{id}/groups, GET /api/v1/groups/{id}/roles",
  built_in_groups: 'GET /api/v1/groups?filter=type eq "BUILT_IN"',
  log_streams: "GET /api/v1/logStreams",
  saml_idps: "GET /api/v1/idps?type=SAML2",
  smart_card_idps: "GET /api/v1/idps?type=X509, GET /api/v1/idps/credentials/keys/{id}",
};
