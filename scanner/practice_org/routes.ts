import { roleAssignment } from "./people_objects.ts";
import { listingOf } from "./org_contents.ts";
import { notFound, providerError } from "./provider_errors.ts";
import { parseFilter } from "./search_filter.ts";
import { json } from "./wire.ts";
import type { App, JsonObject, Listing, OrgContents, PolicyWithRules, Resource } from "./org_contents.ts";
import type { PagedList, Paging } from "./paging.ts";
import type { PracticeResponse } from "./wire.ts";

/** What the administrator role of the service application allows it to see. */
export type Role = "none" | "read-only" | "super";

export interface Call {
  readonly url: string;
  readonly contents: OrgContents;
  readonly role: Role;
  readonly clientId: string;
  readonly serviceApp: App;
  readonly query: URLSearchParams;
  /** The variable segments of the path, in order. */
  readonly segments: readonly string[];
}

export type Answer = PagedList | PracticeResponse;

export interface Route {
  /** Segments that vary are `*`. */
  readonly path: string;
  /** Without their prefix; any one of them is enough. Null: everybody may ask. */
  readonly scopes: readonly string[] | null;
  /** Requests of one bucket share a rate limit. */
  readonly bucket: string;
  readonly answer: (call: Call) => Answer;
}

const twenty: Paging = { defaultLimit: 20, maxLimit: 200 };

export const routes: readonly Route[] = [
  { path: "/.well-known/okta-organization", scopes: null, bucket: "well-known", answer: organization },
  { path: "/api/v1/org", scopes: ["orgs.read"], bucket: "org", answer: orgSettings },
  { path: "/api/v1/apps", scopes: ["apps.read"], bucket: "apps", answer: apps },
  { path: "/api/v1/apps/*", scopes: ["apps.read"], bucket: "apps", answer: oneApp },
  {
    path: "/api/v1/first-party-app-settings/*",
    scopes: ["apps.read"],
    bucket: "first-party-app-settings",
    answer: firstPartyAppSettings,
  },
  { path: "/api/v1/policies", scopes: ["policies.read"], bucket: "policies", answer: policies },
  {
    path: "/api/v1/policies/*",
    scopes: ["policies.read"],
    bucket: "policies",
    answer: (call) => ofPolicy(call, ({ policy }) => json(200, policy)),
  },
  {
    path: "/api/v1/policies/*/rules",
    scopes: ["policies.read"],
    bucket: "policies",
    answer: (call) => ofPolicy(call, ({ rules }) => whole(rules)),
  },
  {
    path: "/api/v1/policies/*/rules/*",
    scopes: ["policies.read"],
    bucket: "policies",
    answer: (call) => ofPolicy(call, ({ rules }) => byId(rules, call.segments[1], "PolicyRule")),
  },
  {
    path: "/api/v1/policies/*/mappings",
    scopes: ["policies.read"],
    bucket: "policies",
    answer: (call) => ofPolicy(call, ({ policy }) => whole(mappingsOf(call, policy.id))),
  },
  {
    path: "/api/v1/brands",
    scopes: ["brands.read"],
    bucket: "brands",
    answer: ({ contents }) => paged(contents.brands.map(({ brand }) => brand)),
  },
  {
    path: "/api/v1/brands/*/pages/sign-in/customized",
    scopes: ["brands.read"],
    bucket: "brands",
    answer: customizedPage,
  },
  { path: "/api/v1/brands/*/pages/sign-in/default", scopes: ["brands.read"], bucket: "brands", answer: defaultPage },
  {
    path: "/api/v1/authenticators",
    scopes: ["authenticators.read"],
    bucket: "authenticators",
    answer: ({ contents }) => whole(contents.authenticators),
  },
  { path: "/api/v1/zones", scopes: ["networkZones.read"], bucket: "zones", answer: zones },
  {
    path: "/api/v1/zones/*",
    scopes: ["networkZones.read"],
    bucket: "zones",
    answer: ({ contents, segments }) => byId(contents.zones, segments[0], "NetworkZone"),
  },
  {
    path: "/api/v1/api-tokens",
    scopes: ["apiTokens.read"],
    bucket: "api-tokens",
    answer: ({ contents }) => whole(contents.apiTokens),
  },
  {
    path: "/api/v1/iam/roles",
    scopes: ["roles.read"],
    bucket: "iam",
    answer: ({ contents }) => ({
      ...paged(contents.customRoles, { defaultLimit: 100, maxLimit: 100 }),
      envelope: "roles",
    }),
  },
  { path: "/api/v1/iam/assignees/users", scopes: ["roles.read"], bucket: "iam", answer: roleAssignees },
  {
    path: "/api/v1/users",
    scopes: ["users.read"],
    bucket: "users",
    answer: ({ contents }) =>
      paged(
        contents.users.map(({ user }) => user),
        { defaultLimit: 200, maxLimit: 200 },
      ),
  },
  {
    path: "/api/v1/users/*",
    scopes: ["users.read"],
    bucket: "users",
    answer: ({ contents, segments }) =>
      byId(
        contents.users.map(({ user }) => user),
        segments[0],
        "User",
      ),
  },
  { path: "/api/v1/users/*/roles", scopes: ["roles.read"], bucket: "users", answer: userRoles },
  { path: "/api/v1/users/*/groups", scopes: ["groups.read", "users.read"], bucket: "users", answer: userGroups },
  {
    path: "/api/v1/groups",
    scopes: ["groups.read"],
    bucket: "groups",
    answer: ({ contents }) =>
      paged(
        contents.groups.map(({ group }) => group),
        { defaultLimit: 10_000, maxLimit: 10_000 },
      ),
  },
  {
    path: "/api/v1/groups/*",
    scopes: ["groups.read"],
    bucket: "groups",
    answer: ({ contents, segments }) =>
      byId(
        contents.groups.map(({ group }) => group),
        segments[0],
        "Group",
      ),
  },
  { path: "/api/v1/groups/*/roles", scopes: ["roles.read"], bucket: "groups", answer: groupRoles },
  {
    path: "/api/v1/logStreams",
    scopes: ["logStreams.read"],
    bucket: "logStreams",
    answer: ({ contents }) => paged(contents.logStreams),
  },
  { path: "/api/v1/idps", scopes: ["idps.read"], bucket: "idps", answer: identityProviders },
  {
    path: "/api/v1/idps/credentials/keys",
    scopes: ["idps.read"],
    bucket: "idps",
    answer: ({ contents }) => paged(contents.identityProviderKeys),
  },
  { path: "/api/v1/idps/credentials/keys/*", scopes: ["idps.read"], bucket: "idps", answer: identityProviderKey },
  {
    path: "/api/v1/idps/*",
    scopes: ["idps.read"],
    bucket: "idps",
    answer: ({ contents, segments }) => byId(contents.identityProviders, segments[0], "IdentityProvider"),
  },
  { path: "/oauth2/v1/clients/*/roles", scopes: ["roles.read"], bucket: "clients", answer: clientRoles },
];

/** The first route of that path, literal segments before variable ones by the order of the table. */
export function findRoute(path: string): { readonly route: Route; readonly segments: readonly string[] } | null {
  const asked = path.split("/");
  for (const route of routes) {
    const wanted = route.path.split("/");
    if (wanted.length !== asked.length) continue;
    if (!wanted.every((segment, index) => segment === asked[index] || (segment === "*" && asked[index] !== "")))
      continue;
    return { route, segments: asked.filter((_, index) => wanted[index] === "*") };
  }
  return null;
}

function organization({ contents, url }: Call): Answer {
  return json(200, {
    id: contents.id,
    cell: "practice",
    _links: { organization: { href: url } },
    pipeline: contents.pipeline,
    settings: {
      analyticsCollectionEnabled: false,
      bugReportingEnabled: false,
      omEnabled: false,
      pssoEnabled: false,
      desktopMFAEnabled: false,
      itpEnabled: false,
    },
  });
}

function orgSettings({ contents, url }: Call): Answer {
  return json(200, {
    id: contents.id,
    subdomain: "practice",
    companyName: contents.name,
    status: "ACTIVE",
    website: null,
    created: "2025-06-26T15:51:38.000Z",
    lastUpdated: "2025-06-26T15:51:38.000Z",
    expiresAt: null,
    _links: { organization: { href: url } },
  });
}

/** Below Super Administrator the service application sees itself only; the provider's own apps are filtered out. */
function visibleApps({ contents, role, serviceApp }: Call): Listing<App> {
  if (role !== "super") return listingOf([serviceApp]);
  const { apps } = contents;
  return { length: apps.length + 1, get: (index) => (index < apps.length ? apps.get(index) : serviceApp) };
}

function apps(call: Call): Answer {
  const filter = parseFilter(call.query.get("filter"), ["id", "name", "status"]);
  if ("refusal" in filter) return filter.refusal;
  const start = call.query.get("q")?.toLowerCase() ?? "";
  const matches = (app: App) =>
    filter.matches(app) && (app.label.toLowerCase().startsWith(start) || app.name.toLowerCase().startsWith(start));
  return { listing: visibleApps(call), matches, paging: twenty };
}

function oneApp(call: Call): Answer {
  const visible = visibleApps(call);
  for (let index = 0; index < visible.length; index += 1) {
    const app = visible.get(index);
    if (app.id === call.segments[0]) return json(200, app);
  }
  return notFound(call.segments[0] ?? "", "AppInstance");
}

function firstPartyAppSettings({ contents, role, segments }: Call): Answer {
  if (role !== "super") return providerError("E0000006");
  return segments[0] === "admin-console"
    ? json(200, contents.adminConsoleSettings)
    : notFound(segments[0] ?? "", "FirstPartyApp");
}

const policyTypes = new Set([
  "ACCESS_POLICY",
  "CLIENT_UPDATE",
  "DEVICE_SIGNAL_COLLECTION",
  "ENTITY_RISK",
  "IDENTITY_CLAIM_SOURCING",
  "IDP_DISCOVERY",
  "MFA_ENROLL",
  "OKTA_SIGN_ON",
  "PASSWORD",
  "POST_AUTH_SESSION",
  "PROFILE_ENROLLMENT",
  "SESSION_VIOLATION_DETECTION",
  "USER_LIFECYCLE",
]);

function policies({ contents, query }: Call): Answer {
  const type = query.get("type");
  if (type === null || !policyTypes.has(type)) {
    const summary = "Api validation failed: type";
    return providerError("E0000001", { summary, causes: ["type: The policy type is missing or unknown"] });
  }
  const status = query.get("status");
  const found = contents.policies
    .map(({ policy }) => policy)
    .filter((policy) => policy.type === type && (status === null || policy.status === status));
  return paged(found, { defaultLimit: null, maxLimit: 200 });
}

function ofPolicy({ contents, segments }: Call, answer: (found: PolicyWithRules) => Answer): Answer {
  const found = contents.policies.find(({ policy }) => policy.id === segments[0]);
  return found === undefined ? notFound(segments[0] ?? "", "Policy") : answer(found);
}

function mappingsOf(call: Call, policyId: string): readonly JsonObject[] {
  const visible = visibleApps(call);
  const mappings: JsonObject[] = [];
  for (let index = 0; index < visible.length; index += 1) {
    const app = visible.get(index);
    const { accessPolicy } = app["_links"] as { accessPolicy?: { href: string } };
    if (accessPolicy?.href.endsWith(`/${policyId}`) !== true) continue;
    const id = `pma${app.id.slice(3)}`;
    mappings.push({
      id,
      _links: {
        self: { href: `${call.url}/api/v1/policies/${policyId}/mappings/${id}` },
        application: { href: `${call.url}/api/v1/apps/${app.id}` },
        policy: { href: `${call.url}/api/v1/policies/${policyId}` },
      },
    });
  }
  return mappings;
}

function customizedPage({ contents, segments }: Call): Answer {
  const page = contents.brands.find(({ brand }) => brand.id === segments[0])?.customizedPage ?? null;
  return page === null ? notFound(segments[0] ?? "", "SignInPage") : json(200, page);
}

function defaultPage({ contents, segments }: Call): Answer {
  const found = contents.brands.find(({ brand }) => brand.id === segments[0]);
  return found === undefined ? notFound(segments[0] ?? "", "Brand") : json(200, found.defaultPage);
}

function zones({ contents, query }: Call): Answer {
  const filter = parseFilter(query.get("filter"), ["id", "usage", "system"]);
  return "refusal" in filter
    ? filter.refusal
    : { listing: listingOf(contents.zones), matches: filter.matches, paging: twenty };
}

function roleAssignees({ contents, url }: Call): Answer {
  const assignees = contents.users
    .filter(({ roles }) => roles.length > 0)
    .map(({ user }) => ({
      id: user.id,
      orn: `orn:okta:directory:${contents.id}:users:${user.id}`,
      _links: {
        roles: { href: `${url}/api/v1/users/${user.id}/roles` },
        self: { href: `${url}/api/v1/users/${user.id}` },
      },
    }));
  return { ...paged(assignees, { defaultLimit: 100, maxLimit: 200 }), envelope: "value" };
}

function userRoles({ contents, segments }: Call): Answer {
  const found = contents.users.find(({ user }) => user.id === segments[0]);
  return found === undefined ? notFound(segments[0] ?? "", "User") : whole(found.roles);
}

function userGroups({ contents, segments }: Call): Answer {
  const found = contents.users.find(({ user }) => user.id === segments[0]);
  if (found === undefined) return notFound(segments[0] ?? "", "User");
  return whole(contents.groups.map(({ group }) => group).filter(({ id }) => found.groupIds.includes(id)));
}

function groupRoles({ contents, segments }: Call): Answer {
  const found = contents.groups.find(({ group }) => group.id === segments[0]);
  return found === undefined ? notFound(segments[0] ?? "", "UserGroup") : whole(found.roles);
}

function identityProviders({ contents, query }: Call): Answer {
  const type = query.get("type");
  return paged(contents.identityProviders.filter((provider) => type === null || provider["type"] === type));
}

function identityProviderKey({ contents, segments }: Call): Answer {
  const found = contents.identityProviderKeys.find(({ kid }) => kid === segments[0]);
  return found === undefined ? notFound(segments[0] ?? "", "IdpKeyCredential") : json(200, found);
}

function clientRoles({ clientId, role, segments, url }: Call): Answer {
  if (segments[0] !== clientId) return notFound(segments[0] ?? "", "PublicClientApp");
  const type = role === "super" ? "SUPER_ADMIN" : "READ_ONLY_ADMIN";
  return whole([roleAssignment(type, "CLIENT", clientId, `${url}/oauth2/v1/clients/${clientId}`)]);
}

function byId(items: readonly Resource[], id: string | undefined, kind: string): Answer {
  const found = items.find((item) => item.id === id);
  return found === undefined ? notFound(id ?? "", kind) : json(200, found);
}

function whole(items: readonly unknown[]): PagedList {
  return { listing: listingOf(items), paging: null };
}

function paged(items: readonly unknown[], paging: Paging = twenty): PagedList {
  return { listing: listingOf(items), paging };
}
