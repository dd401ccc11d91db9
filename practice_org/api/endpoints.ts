import {
  copyOf,
  customRoleAssignment,
  roleAssignment,
  type organization,
  type orgSettings,
} from "../contents/new_objects.ts";
import { isFirstPartyApp, type App, type Resource, type User } from "../contents/org_contents.ts";
import { invalid, json, notFound, providerError } from "../http/messages.ts";
import { list, named, unpaged, type Answer, type Call, type Endpoint } from "./call.ts";
import type { Paging } from "./paging.ts";

/** Answers of the endpoints that are more than a list of the org or an object of it; `routes.ts` has the paths. */

export const peoplePerPage: Paging = { defaultLimit: 200, maxLimit: 200 };

export const ofPolicy = named(
  ({ policies }) => policies,
  ({ policy }) => policy.id,
  "Policy",
);
export const ofBrand = named(
  ({ brands }) => brands,
  ({ brand }) => brand.id,
  "Brand",
);
export const ofUser = named(
  ({ users }) => users,
  ({ user }) => user.id,
  "User",
);
export const ofGroup = named(
  ({ groups }) => groups,
  ({ group }) => group.id,
  "Group",
);
export const ofKey = named(
  ({ identityProviderKeys }) => identityProviderKeys,
  ({ kid }) => kid,
  "IdpKeyCredential",
);

export function groupsOf({ groupIds }: User, call: Call): Answer {
  const groups = call.contents.groups.map(({ group }) => group).filter(({ id }) => groupIds.includes(id));
  return list(() => groups, { paging: peoplePerPage })(call);
}

/** A recording that describes the org as a whole. */
export function described(recording: typeof organization | typeof orgSettings): Endpoint {
  return ({ contents: { id, name, pipeline }, url }) => json(200, copyOf(recording, { org: id, name, pipeline, url }));
}

export function firstPartyAppSettings({ contents, role, segments: [name = ""] }: Call): Answer {
  if (role !== "super") return providerError("E0000006");
  return name === "admin-console" ? json(200, contents.adminConsoleSettings) : notFound(name, "FirstPartyApp");
}

/**
 * Below Super Administrator the provider's own apps are filtered out. Read-Only Administrator sees the service application and what is
 * assigned to it; the custom role sees all other apps, which its resource set holds.
 */
export function visibleApps({ contents: { apps, assignedApps = [] }, role, serviceApp }: Call): readonly App[] {
  const isVisible = ({ id, name }: App) => (role === "custom" ? !isFirstPartyApp(name) : assignedApps.includes(id));
  return [...(role === "super" ? apps : apps.filter(isVisible)), serviceApp];
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

export function policies(call: Call): Answer {
  const type = call.query.get("type");
  if (type === null || !policyTypes.has(type)) return invalid("type", "The policy type is missing or unknown");
  const status = call.query.get("status");
  const found = call.contents.policies
    .map(({ policy }) => policy)
    .filter((policy) => policy.type === type && (status === null || policy.status === status));
  return list(() => found, { paging: { defaultLimit: null, maxLimit: 200 } })(call);
}

/** With `expand=domains` each with its domains; themes and email domains are accepted and left out. */
export function brands(call: Call): Answer {
  const expanded = (call.query.get("expand") ?? "").split(",").filter((name) => name !== "");
  const unknown = expanded.find((name) => !["themes", "domains", "emailDomain"].includes(name));
  if (unknown !== undefined) return invalid("expand", `'${unknown}' is not supported`);
  const hasDomains = expanded.includes("domains");
  return list(({ contents }) =>
    contents.brands.map(({ brand, domains }) => ({ ...brand, ...(hasDomains ? { _embedded: { domains } } : {}) })),
  )(call);
}

/** `q` is the beginning of a name, and its answer has no links. */
export function groups(call: Call): Answer {
  const start = call.query.get("q")?.toLowerCase();
  const nameOf = (group: Resource) => (group["profile"] as { readonly name: string }).name.toLowerCase();
  const all = call.contents.groups.map(({ group }) => group);
  const found = all.filter((group) => nameOf(group).startsWith(start ?? ""));
  const paging = start === undefined ? { defaultLimit: 10_000, maxLimit: 10_000 } : null;
  return list(() => found, { paging, filters: ["id", "type"] })(call);
}

export function clientRoles({ clientId, role, segments, url }: Call): Answer {
  if (segments[0] !== clientId) return notFound(segments[0] ?? "", "PublicClientApp");
  const href = `${url}/oauth2/v1/clients/${clientId}`;
  const standard = role === "super" ? "SUPER_ADMIN" : "READ_ONLY_ADMIN";
  const assignment =
    role === "custom"
      ? customRoleAssignment(clientId, href)
      : roleAssignment(standard, { type: "CLIENT", id: clientId, href });
  return unpaged([assignment]);
}

export function identityProviders(call: Call): Answer {
  const type = call.query.get("type");
  const matches = (provider: Resource) => type === null || provider["type"] === type;
  return { ...list(({ contents }) => contents.identityProviders)(call), matches, dropsQuery: true };
}
