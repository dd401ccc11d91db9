import type { ArtifactName } from "../evidence/artifacts.ts";
import type { IdpRequest } from "./idp_client.ts";

/**
 * For a set of artifacts, requests that their collectors begin with: the probe makes one of them and the collector gets
 * its answer, so that the probe costs nothing. What every organization has and every role may read comes first.
 */
export function probeRequests(artifacts: Iterable<ArtifactName>): readonly IdpRequest[] {
  const wanted = new Set(artifacts);
  // With the whole list the built-in apps are looked up in it, and not requested.
  const isListed = wanted.has("apps");
  return (Object.keys(firstRequests) as ArtifactName[])
    .filter((name) => wanted.has(name) && !(isListed && (name === "admin_console_app" || name === "dashboard_app")))
    .map((name) => firstRequests[name])
    .filter((request) => request !== null);
}

/** The request that each collector begins with, in the order in which the probe tries them. Null: made from other artifacts. */
export const firstRequests = {
  // First the longest chain of pages, so that it begins with the probe and not after it.
  apps: { path: "/api/v1/apps?limit=200", scope: "apps.read" },
  global_session_policies: { path: "/api/v1/policies?type=OKTA_SIGN_ON", scope: "policies.read" },
  password_policies: { path: "/api/v1/policies?type=PASSWORD", scope: "policies.read" },
  access_policies: { path: "/api/v1/policies?type=ACCESS_POLICY", scope: "policies.read" },
  authenticators: { path: "/api/v1/authenticators", scope: "authenticators.read" },
  brand_sign_in_pages: { path: "/api/v1/brands?expand=domains&limit=200", scope: "brands.read" },
  network_zones: { path: "/api/v1/zones?limit=200", scope: "networkZones.read" },
  admin_console_app: appsNamed("saasure"),
  dashboard_app: appsNamed("okta_enduser"),
  built_in_groups: {
    path: `/api/v1/groups?filter=${encodeURIComponent('type eq "BUILT_IN"')}&limit=200`,
    scope: "groups.read",
  },
  log_streams: { path: "/api/v1/logStreams?limit=200", scope: "logStreams.read" },
  saml_idps: { path: "/api/v1/idps?type=SAML2&limit=200", scope: "idps.read" },
  smart_card_idps: { path: "/api/v1/idps?type=X509&limit=200", scope: "idps.read" },
  api_tokens: { path: "/api/v1/api-tokens", scope: "apiTokens.read" },
  user_lifecycle_policies: { path: "/api/v1/policies?type=USER_LIFECYCLE", scope: "policies.read" },
  admin_console_settings: { path: "/api/v1/first-party-app-settings/admin-console", scope: "apps.read" },
  automation_groups: null,
  app_policy_rules: null,
  api_token_owners: null,
} as const satisfies { readonly [Name in ArtifactName]: IdpRequest | null };

/** The apps of one kind. */
export function appsNamed(name: string): IdpRequest {
  return { path: `/api/v1/apps?filter=${encodeURIComponent(`name eq "${name}"`)}&limit=200`, scope: "apps.read" };
}
