import { json } from "../http/messages.ts";
import {
  apps,
  brandDomains,
  brands,
  byId,
  clientRoles,
  firstPartyAppSettings,
  groups,
  identityProviderKey,
  identityProviders,
  logs,
  ofBrand,
  ofGroup,
  ofPolicy,
  ofUser,
  oneApp,
  organization,
  orgSettings,
  paged,
  policies,
  policyMappings,
  roleAssignees,
  unpaged,
  zones,
  type Answer,
  type Call,
} from "./endpoints.ts";
import { segmentsOf } from "../http/path_segments.ts";

export interface Route {
  /** Segments that vary are `*`. */
  readonly path: string;
  /** Without their prefix; any one of them is enough. Null: the endpoint needs no token. */
  readonly scopes: readonly string[] | null;
  /** Requests of one bucket share a rate limit. */
  readonly bucket: string;
  readonly answer: (call: Call) => Answer;
}

export const routes: readonly Route[] = [
  route("/.well-known/okta-organization", null, organization),
  route("/api/v1/org", ["orgs.read"], orgSettings),
  route("/api/v1/org/settings/clientPrivilegesSetting", ["orgs.read"], ({ app }) =>
    json(200, { clientPrivilegesSetting: app.hasPublicClientAdmins }),
  ),
  route("/api/v1/apps", ["apps.read"], apps),
  route("/api/v1/apps/*", ["apps.read"], oneApp),
  route("/api/v1/first-party-app-settings/*", ["apps.read"], firstPartyAppSettings),
  route("/api/v1/policies", ["policies.read"], policies),
  route(
    "/api/v1/policies/*",
    ["policies.read"],
    ofPolicy(({ policy }) => json(200, policy)),
  ),
  route(
    "/api/v1/policies/*/rules",
    ["policies.read"],
    ofPolicy(({ rules }) => unpaged(rules)),
  ),
  route(
    "/api/v1/policies/*/rules/*",
    ["policies.read"],
    ofPolicy(({ rules }, { segments }) => byId(rules, segments[1], "PolicyRule")),
  ),
  route("/api/v1/policies/*/mappings", ["policies.read"], policyMappings),
  route("/api/v1/brands", ["brands.read"], brands),
  route("/api/v1/brands/*/domains", ["brands.read"], brandDomains),
  route(
    "/api/v1/brands/*/pages/sign-in/customized",
    ["brands.read"],
    ofBrand("SignInPage", ({ customizedPage }) => customizedPage),
  ),
  route(
    "/api/v1/brands/*/pages/sign-in/default",
    ["brands.read"],
    ofBrand("Brand", ({ defaultPage }) => defaultPage),
  ),
  route(
    "/api/v1/brands/*",
    ["brands.read"],
    ofBrand("Brand", ({ brand }) => brand),
  ),
  route("/api/v1/authenticators", ["authenticators.read"], ({ contents }) => unpaged(contents.authenticators)),
  route("/api/v1/authenticators/*", ["authenticators.read"], ({ contents, segments }) =>
    byId(contents.authenticators, segments[0], "Authenticator"),
  ),
  route("/api/v1/zones", ["networkZones.read"], zones),
  route("/api/v1/zones/*", ["networkZones.read"], ({ contents, segments }) =>
    byId(contents.zones, segments[0], "NetworkZone"),
  ),
  route("/api/v1/api-tokens", ["apiTokens.read"], ({ contents }) => unpaged(contents.apiTokens)),
  route("/api/v1/api-tokens/*", ["apiTokens.read"], ({ contents, segments }) =>
    byId(contents.apiTokens, segments[0], "ApiToken"),
  ),
  route("/api/v1/iam/roles", ["roles.read"], ({ contents }) => ({
    ...paged(contents.customRoles, { defaultLimit: 100, maxLimit: 100 }),
    envelope: "roles",
  })),
  route("/api/v1/iam/assignees/users", ["roles.read"], roleAssignees),
  route("/api/v1/users", ["users.read"], ({ contents }) =>
    paged(
      contents.users.map(({ user }) => user),
      { defaultLimit: 200, maxLimit: 200 },
    ),
  ),
  route(
    "/api/v1/users/*",
    ["users.read"],
    ofUser(({ user }) => json(200, user)),
  ),
  route(
    "/api/v1/users/*/roles",
    ["roles.read"],
    ofUser(({ roles }) => unpaged(roles)),
  ),
  route(
    "/api/v1/users/*/groups",
    ["users.read"],
    ofUser(({ groupIds }, { contents }) =>
      paged(
        contents.groups.map(({ group }) => group).filter(({ id }) => groupIds.includes(id)),
        { defaultLimit: 200, maxLimit: 200 },
      ),
    ),
  ),
  route("/api/v1/groups", ["groups.read"], groups),
  route(
    "/api/v1/groups/*",
    ["groups.read"],
    ofGroup("Group", ({ group }) => json(200, group)),
  ),
  route(
    "/api/v1/groups/*/roles",
    ["roles.read"],
    ofGroup("UserGroup", ({ roles }) => unpaged(roles)),
  ),
  route("/api/v1/logStreams", ["logStreams.read"], ({ contents }) => paged(contents.logStreams)),
  route("/api/v1/logStreams/*", ["logStreams.read"], ({ contents, segments }) =>
    byId(contents.logStreams, segments[0], "LogStream"),
  ),
  route("/api/v1/logs", ["logs.read"], logs),
  route("/api/v1/idps", ["idps.read"], identityProviders),
  route("/api/v1/idps/credentials/keys", ["idps.read"], ({ contents }) => paged(contents.identityProviderKeys)),
  route("/api/v1/idps/credentials/keys/*", ["idps.read"], identityProviderKey),
  route("/api/v1/idps/*", ["idps.read"], ({ contents, segments }) =>
    byId(contents.identityProviders, segments[0], "IdentityProvider"),
  ),
  route("/oauth2/v1/clients/*/roles", ["roles.read"], clientRoles),
];

/** Every scope that the org knows, without prefix. */
export const everyScope: readonly string[] = [...new Set(routes.flatMap(({ scopes }) => scopes ?? []))];

/** The first route of that path, literal segments before variable ones by the order of the table. */
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

function route(path: string, scopes: Route["scopes"], answer: Route["answer"]): Route {
  return { path, scopes, bucket: bucketOf(path), answer };
}
