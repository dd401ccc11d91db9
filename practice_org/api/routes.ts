import { defaultPage, organization, orgSettings } from "../contents/new_objects.ts";
import type { ListName } from "../contents/org_contents.ts";
import { json, notFound } from "../http/messages.ts";
import { byId, list, unpaged, type Endpoint, type ListOptions } from "./call.ts";
import * as endpoints from "./endpoints.ts";
import { ofBrand, ofGroup, ofKey, ofPolicy, ofUser, peoplePerPage } from "./endpoints.ts";
import { answerLogRequest } from "../log/log_endpoint.ts";
import { routesOf, scopesOf } from "../http/route_table.ts";

/** The lists whose entries are plain objects: each by the name of its scope. */
const lists = {
  authenticators: "authenticators",
  networkZones: "zones",
  apiTokens: "apiTokens",
  logStreams: "logStreams",
  idps: "identityProviders",
} as const satisfies Record<string, ListName>;

type Entry = readonly [scope: string | null, answer: Endpoint];

function listAndObject(path: string, scope: keyof typeof lists, kind: string, options?: ListOptions) {
  const name = lists[scope];
  return {
    [path]: [`${scope}.read`, list(({ contents }) => contents[name], options)],
    [`${path}/*`]: [`${scope}.read`, ({ contents, segments }) => byId(contents[name], segments[0], kind)],
  } satisfies Record<string, Entry>;
}

/** Scope and answer by path. If two paths fit a request, the first one counts. */
const table: Readonly<Record<string, Entry>> = {
  "/.well-known/okta-organization": [null, endpoints.described(organization)],
  "/api/v1/org": ["orgs.read", endpoints.described(orgSettings)],
  "/api/v1/org/settings/clientPrivilegesSetting": [
    "orgs.read",
    ({ app }) => json(200, { clientPrivilegesSetting: app.hasPublicClientAdmins }),
  ],
  "/api/v1/apps": ["apps.read", list(endpoints.visibleApps, { filters: ["id", "name", "status"] })],
  "/api/v1/apps/*": ["apps.read", (call) => byId(endpoints.visibleApps(call), call.segments[0], "AppInstance")],
  "/api/v1/first-party-app-settings/*": ["apps.read", endpoints.firstPartyAppSettings],
  "/api/v1/policies": ["policies.read", endpoints.policies],
  "/api/v1/policies/*": ["policies.read", ofPolicy(({ policy }) => json(200, policy))],
  "/api/v1/policies/*/rules": ["policies.read", ofPolicy(({ rules }) => unpaged(rules))],
  "/api/v1/policies/*/rules/*": [
    "policies.read",
    ofPolicy(({ rules }, { segments }) => byId(rules, segments[1], "PolicyRule")),
  ],
  "/api/v1/brands": ["brands.read", endpoints.brands],
  "/api/v1/brands/*/domains": ["brands.read", ofBrand(({ domains }) => unpaged(domains))],
  "/api/v1/brands/*/pages/sign-in/customized": [
    "brands.read",
    ofBrand(
      ({ customizedPage }, { segments: [id = ""] }) =>
        customizedPage === null ? notFound(id, "SignInPage") : json(200, customizedPage),
      "SignInPage",
    ),
  ],
  "/api/v1/brands/*/pages/sign-in/default": ["brands.read", ofBrand(() => json(200, defaultPage))],
  "/api/v1/brands/*": ["brands.read", ofBrand(({ brand }) => json(200, brand))],
  ...listAndObject("/api/v1/authenticators", "authenticators", "Authenticator", { paging: null }),
  ...listAndObject("/api/v1/zones", "networkZones", "NetworkZone", { filters: ["id", "usage", "system"] }),
  ...listAndObject("/api/v1/api-tokens", "apiTokens", "ApiToken", { paging: null }),
  "/api/v1/iam/roles": [
    "roles.read",
    list(({ contents }) => contents.customRoles, { paging: { defaultLimit: 100, maxLimit: 100 }, envelope: "roles" }),
  ],
  "/api/v1/users": [
    "users.read",
    list(({ contents }) => contents.users.map(({ user }) => user), { paging: peoplePerPage }),
  ],
  "/api/v1/users/*": ["users.read", ofUser(({ user }) => json(200, user))],
  "/api/v1/users/*/roles": ["roles.read", ofUser(({ roles }) => unpaged(roles))],
  "/api/v1/users/*/roles/*/targets/groups": ["roles.read", ofUser(() => unpaged([]))],
  "/api/v1/users/*/roles/*/targets/catalog/apps": ["roles.read", ofUser(() => unpaged([]))],
  "/api/v1/users/*/groups": ["users.read", ofUser(endpoints.groupsOf)],
  "/api/v1/groups": ["groups.read", endpoints.groups],
  "/api/v1/groups/*": ["groups.read", ofGroup(({ group }) => json(200, group))],
  "/api/v1/groups/*/roles": ["roles.read", ofGroup(({ roles }) => unpaged(roles), "UserGroup")],
  "/api/v1/groups/*/roles/*/targets/groups": ["roles.read", ofGroup(() => unpaged([]), "UserGroup")],
  "/api/v1/groups/*/roles/*/targets/catalog/apps": ["roles.read", ofGroup(() => unpaged([]), "UserGroup")],
  ...listAndObject("/api/v1/logStreams", "logStreams", "LogStream"),
  "/api/v1/logs": ["logs.read", ({ request, log }) => answerLogRequest(request, log)],
  ...listAndObject("/api/v1/idps", "idps", "IdentityProvider"),
  "/api/v1/idps": ["idps.read", endpoints.identityProviders],
  "/api/v1/idps/credentials/keys": ["idps.read", list(({ contents }) => contents.identityProviderKeys)],
  "/api/v1/idps/credentials/keys/*": ["idps.read", ofKey((key) => json(200, key))],
  "/oauth2/v1/clients/*/roles": ["roles.read", endpoints.clientRoles],
};

export const routes = routesOf(table);

/** Every scope that the org knows, without prefix. */
export const everyScope = scopesOf(routes);
