import { apps, firstPartyAppSettings, mappingsOf, oneApp } from "./app_endpoints.ts";
import { byId, paged, twenty, whole } from "./call.ts";
import { listingOf } from "../objects/org_contents.ts";
import { ofPolicy, policies } from "./policy_endpoints.ts";
import { notFound } from "./provider_errors.ts";
import { clientRoles, groupRoles, roleAssignees, userGroups, userRoles } from "./role_endpoints.ts";
import { parseFilter } from "./search_filter.ts";
import { json } from "../http/body.ts";
import type { Answer, Call } from "./call.ts";

export interface Route {
  /** Segments that vary are `*`. */
  readonly path: string;
  /** Without their prefix; any one of them is enough. Null: everybody may ask. */
  readonly scopes: readonly string[] | null;
  /** Requests of one bucket share a rate limit. */
  readonly bucket: string;
  readonly answer: (call: Call) => Answer;
}

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

function identityProviders({ contents, query }: Call): Answer {
  const type = query.get("type");
  return paged(contents.identityProviders.filter((provider) => type === null || provider["type"] === type));
}

function identityProviderKey({ contents, segments }: Call): Answer {
  const found = contents.identityProviderKeys.find(({ kid }) => kid === segments[0]);
  return found === undefined ? notFound(segments[0] ?? "", "IdpKeyCredential") : json(200, found);
}
