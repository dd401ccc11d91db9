import type { JsonObject } from "../../shared/json.ts";
import { json, notFound, providerError } from "../http/messages.ts";
import {
  isFirstPartyApp,
  listingOf,
  type App,
  type BrandWithPages,
  type Group,
  type Listing,
  type PolicyWithRules,
  type Resource,
  type User,
} from "../contents/org_contents.ts";
import { customRoleAssignment, roleAssignment } from "../contents/new_objects.ts";
import { ofNamed, paged, parseFilter, twentyPerPage, unpaged, type Answer, type Call } from "./call.ts";
import type { Paging } from "./paging.ts";

/** Answers of the endpoints to authorized calls; `routes.ts` has the paths. */

const peoplePerPage: Paging = { defaultLimit: 200, maxLimit: 200 };

export function organization({ contents, url }: Call): Answer {
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

export function orgSettings({ contents, url }: Call): Answer {
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

export function apps(call: Call): Answer {
  const filter = parseFilter(call.query.get("filter"), ["id", "name", "status"]);
  if ("refusal" in filter) return filter.refusal;
  return { listing: visibleApps(call), matches: filter.matches, paging: twentyPerPage };
}

export function oneApp(call: Call): Answer {
  for (const app of each(visibleApps(call))) if (app.id === call.segments[0]) return json(200, app);
  return notFound(call.segments[0] ?? "", "AppInstance");
}

export function firstPartyAppSettings({ contents, role, segments }: Call): Answer {
  if (role !== "super") return providerError("E0000006");
  return segments[0] === "admin-console"
    ? json(200, contents.adminConsoleSettings)
    : notFound(segments[0] ?? "", "FirstPartyApp");
}

/**
 * Below Super Administrator the provider's own apps are filtered out. Read-Only Administrator sees the service application and what is
 * assigned to it; the custom role sees all other apps, which its resource set holds.
 */
function visibleApps({ contents, role, serviceApp }: Call): Listing<App> {
  const others = contents.apps;
  if (role === "custom") {
    return listingOf([...[...each(others)].filter(({ name }) => !isFirstPartyApp(name)), serviceApp]);
  }
  if (role !== "super") {
    const assigned = contents.assignedApps ?? [];
    const found = assigned.length === 0 ? [] : [...each(others)].filter(({ id }) => assigned.includes(id));
    return listingOf([...found, serviceApp]);
  }
  return { length: others.length + 1, get: (index) => (index < others.length ? others.get(index) : serviceApp) };
}

function* each<Item>(listing: Listing<Item>): Generator<Item> {
  for (let index = 0; index < listing.length; index += 1) yield listing.get(index);
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

export function policies({ contents, query }: Call): Answer {
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

export function ofPolicy(answer: (found: PolicyWithRules, call: Call) => Answer): (call: Call) => Answer {
  return ofNamed(
    ({ contents }) => contents.policies,
    ({ policy }) => policy.id,
    "Policy",
    answer,
  );
}

/** With `expand=domains` each with its domains; themes and email domains are accepted and left out. */
export function brands({ contents, query }: Call): Answer {
  const expanded = (query.get("expand") ?? "").split(",").filter((name) => name !== "");
  const unknown = expanded.find((name) => !["themes", "domains", "emailDomain"].includes(name));
  if (unknown !== undefined) {
    const summary = "Api validation failed: expand";
    return providerError("E0000001", { summary, causes: [`expand: '${unknown}' is not supported`] });
  }
  const embedded = (domains: BrandWithPages["domains"]) =>
    expanded.includes("domains") ? { _embedded: { domains } } : {};
  return paged(contents.brands.map(({ brand, domains }) => ({ ...brand, ...embedded(domains) })));
}

export const brandDomains = ofNamed(
  ({ contents }) => contents.brands,
  ({ brand }) => brand.id,
  "Brand",
  ({ domains }) => unpaged(domains),
);

export function ofBrand(kind: string, pageOf: (found: BrandWithPages) => JsonObject | null): (call: Call) => Answer {
  return ofNamed(
    ({ contents }) => contents.brands,
    ({ brand }) => brand.id,
    kind,
    (found, { segments }) => {
      const page = pageOf(found);
      return page === null ? notFound(segments[0] ?? "", kind) : json(200, page);
    },
  );
}

export function zones({ contents, query }: Call): Answer {
  const filter = parseFilter(query.get("filter"), ["id", "usage", "system"]);
  return "refusal" in filter
    ? filter.refusal
    : { listing: listingOf(contents.zones), matches: filter.matches, paging: twentyPerPage };
}

export function customRoles({ contents }: Call): Answer {
  return { ...paged(contents.customRoles, { defaultLimit: 100, maxLimit: 100 }), envelope: "roles" };
}

export function users({ contents }: Call): Answer {
  return paged(
    contents.users.map(({ user }) => user),
    peoplePerPage,
  );
}

export const groupsOfUser = ofUser(({ groupIds }, { contents }) => {
  const found = contents.groups.map(({ group }) => group).filter(({ id }) => groupIds.includes(id));
  return paged(found, peoplePerPage);
});

export function ofUser(answer: (found: User, call: Call) => Answer): (call: Call) => Answer {
  return ofNamed(
    ({ contents }) => contents.users,
    ({ user }) => user.id,
    "User",
    answer,
  );
}

export function ofGroup(kind: string, answer: (found: Group, call: Call) => Answer): (call: Call) => Answer {
  return ofNamed(
    ({ contents }) => contents.groups,
    ({ group }) => group.id,
    kind,
    answer,
  );
}

/** `q` is the beginning of a name, and its answer has no links. */
export function groups({ contents, query }: Call): Answer {
  const filter = parseFilter(query.get("filter"), ["id", "type"]);
  if ("refusal" in filter) return filter.refusal;
  const start = query.get("q")?.toLowerCase() ?? "";
  const nameOf = ({ group }: Group) => String((group["profile"] as JsonObject)["name"]).toLowerCase();
  const found = contents.groups
    .filter((item) => nameOf(item).startsWith(start) && filter.matches(item.group))
    .map(({ group }) => group);
  return query.has("q") ? unpaged(found) : paged(found, { defaultLimit: 10_000, maxLimit: 10_000 });
}

export function clientRoles({ clientId, role, segments, url }: Call): Answer {
  if (segments[0] !== clientId) return notFound(segments[0] ?? "", "PublicClientApp");
  const href = `${url}/oauth2/v1/clients/${clientId}`;
  if (role === "custom") return unpaged([customRoleAssignment(clientId, href)]);
  const type = role === "super" ? "SUPER_ADMIN" : "READ_ONLY_ADMIN";
  return unpaged([roleAssignment(type, { type: "CLIENT", id: clientId, href })]);
}

export function identityProviders({ contents, query }: Call): Answer {
  const type = query.get("type");
  const matches = (provider: Resource) => type === null || provider["type"] === type;
  return { ...paged(contents.identityProviders), matches, dropsQuery: true };
}

export const identityProviderKey = ofNamed(
  ({ contents }) => contents.identityProviderKeys,
  ({ kid }) => kid,
  "IdpKeyCredential",
  (key) => json(200, key),
);
