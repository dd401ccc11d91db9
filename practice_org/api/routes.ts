import { defaultPage } from "../contents/new_objects.ts";
import { json } from "../http/messages.ts";
import { byId, oneOf, paged, unpaged, type Answer, type Call } from "./call.ts";
import * as endpoints from "./endpoints.ts";
import { answerLogRequest } from "../log/log_endpoint.ts";
import { segmentsOf } from "../http/path_segments.ts";

export interface Route {
  /** Segments that vary are `*`. */
  readonly path: string;
  /** Without its prefix. Null: the endpoint needs no token. */
  readonly scope: string | null;
  /** Requests of one bucket share a rate limit. */
  readonly bucket: string;
  readonly answer: (call: Call) => Answer;
}

/** By path: the scope and the answer. Where two paths fit a request, the first one counts. */
const table: Readonly<Record<string, readonly [scope: Route["scope"], answer: Route["answer"]]>> = {
  "/.well-known/okta-organization": [null, endpoints.organization],
  "/api/v1/org": ["orgs.read", endpoints.orgSettings],
  "/api/v1/org/settings/clientPrivilegesSetting": [
    "orgs.read",
    ({ app }) => json(200, { clientPrivilegesSetting: app.hasPublicClientAdmins }),
  ],
  "/api/v1/apps": ["apps.read", endpoints.apps],
  "/api/v1/apps/*": ["apps.read", endpoints.oneApp],
  "/api/v1/first-party-app-settings/*": ["apps.read", endpoints.firstPartyAppSettings],
  "/api/v1/policies": ["policies.read", endpoints.policies],
  "/api/v1/policies/*": ["policies.read", endpoints.ofPolicy(({ policy }) => json(200, policy))],
  "/api/v1/policies/*/rules": ["policies.read", endpoints.ofPolicy(({ rules }) => unpaged(rules))],
  "/api/v1/policies/*/rules/*": [
    "policies.read",
    endpoints.ofPolicy(({ rules }, { segments }) => byId(rules, segments[1], "PolicyRule")),
  ],
  "/api/v1/brands": ["brands.read", endpoints.brands],
  "/api/v1/brands/*/domains": ["brands.read", endpoints.brandDomains],
  "/api/v1/brands/*/pages/sign-in/customized": [
    "brands.read",
    endpoints.ofBrand("SignInPage", ({ customizedPage }) => customizedPage),
  ],
  "/api/v1/brands/*/pages/sign-in/default": ["brands.read", endpoints.ofBrand("Brand", () => defaultPage)],
  "/api/v1/brands/*": ["brands.read", endpoints.ofBrand("Brand", ({ brand }) => brand)],
  "/api/v1/authenticators": ["authenticators.read", ({ contents }) => unpaged(contents.authenticators)],
  "/api/v1/authenticators/*": ["authenticators.read", oneOf("authenticators", "Authenticator")],
  "/api/v1/zones": ["networkZones.read", endpoints.zones],
  "/api/v1/zones/*": ["networkZones.read", oneOf("zones", "NetworkZone")],
  "/api/v1/api-tokens": ["apiTokens.read", ({ contents }) => unpaged(contents.apiTokens)],
  "/api/v1/api-tokens/*": ["apiTokens.read", oneOf("apiTokens", "ApiToken")],
  "/api/v1/iam/roles": ["roles.read", endpoints.customRoles],
  "/api/v1/users": ["users.read", endpoints.users],
  "/api/v1/users/*": ["users.read", endpoints.ofUser(({ user }) => json(200, user))],
  "/api/v1/users/*/roles": ["roles.read", endpoints.ofUser(({ roles }) => unpaged(roles))],
  "/api/v1/users/*/groups": ["users.read", endpoints.groupsOfUser],
  "/api/v1/groups": ["groups.read", endpoints.groups],
  "/api/v1/groups/*": ["groups.read", endpoints.ofGroup("Group", ({ group }) => json(200, group))],
  "/api/v1/groups/*/roles": ["roles.read", endpoints.ofGroup("UserGroup", ({ roles }) => unpaged(roles))],
  "/api/v1/logStreams": ["logStreams.read", ({ contents }) => paged(contents.logStreams)],
  "/api/v1/logStreams/*": ["logStreams.read", oneOf("logStreams", "LogStream")],
  "/api/v1/logs": ["logs.read", ({ request, log }) => answerLogRequest(request, log)],
  "/api/v1/idps": ["idps.read", endpoints.identityProviders],
  "/api/v1/idps/credentials/keys": ["idps.read", ({ contents }) => paged(contents.identityProviderKeys)],
  "/api/v1/idps/credentials/keys/*": ["idps.read", endpoints.identityProviderKey],
  "/api/v1/idps/*": ["idps.read", oneOf("identityProviders", "IdentityProvider")],
  "/oauth2/v1/clients/*/roles": ["roles.read", endpoints.clientRoles],
};

export const routes: readonly Route[] = Object.entries(table).map(([path, [scope, answer]]) => ({
  path,
  scope,
  bucket: bucketOf(path),
  answer,
}));

/** Every scope that the org knows, without prefix. */
export const everyScope: readonly string[] = [...new Set(routes.flatMap(({ scope }) => scope ?? []))];

export function findRoute(path: string): { readonly route: Route; readonly segments: readonly string[] } | null {
  const asked = path.split("/");
  for (const route of routes) {
    const segments = segmentsOf(route.path, asked);
    if (segments !== null) return { route, segments };
  }
  return null;
}

/** The provider limits by family: `/api/v1/apps`, `/oauth2/v1/clients`, …, with all that is below. */
export function bucketOf(path: string): string {
  return path.split("/")[3] ?? "well-known";
}
