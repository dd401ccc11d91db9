import type { JsonObject } from "../../shared/json.ts";
import { link, oktaId } from "./ids_and_links.ts";
import type { Group, Resource, Site, User } from "./org_contents.ts";

const created = "2025-06-26T15:51:38.000Z";
const lastUpdated = "2026-02-13T09:10:39.000Z";

const roleLabels = {
  SUPER_ADMIN: "Super Administrator",
  APP_ADMIN: "Application Administrator",
  USER_ADMIN: "Group Administrator",
  READ_ONLY_ADMIN: "Read-only Administrator",
} as const;

type StandardRole = keyof typeof roleLabels;

export function groupId(name: string): string {
  return oktaId("00g", name);
}

function userId(login: string): string {
  return oktaId("00u", login);
}

/** The groups that the provider makes and keeps by itself, with their descriptions. */
const builtIn: Readonly<Record<string, string>> = {
  Everyone: "All users in your organization",
  "Okta Administrators": "Okta manages this group, which contains all administrators in your organization.",
};

export function builtInGroups(site: Site): readonly Group[] {
  return Object.keys(builtIn).map((name) => group(site, name));
}

export function group(site: Site, name: string, roles: readonly StandardRole[] = []): Group {
  const id = groupId(name);
  const href = `${site.url}/api/v1/groups/${id}`;
  return {
    group: {
      id,
      created,
      lastUpdated,
      lastMembershipUpdated: lastUpdated,
      objectClass: ["okta:user_group"],
      type: Object.hasOwn(builtIn, name) ? "BUILT_IN" : "OKTA_GROUP",
      profile: { name, description: builtIn[name] ?? null },
      _links: {
        logo: [
          { name: "medium", href: `${site.url}/assets/img/logos/groups/okta-medium.png`, type: "image/png" },
          { name: "large", href: `${site.url}/assets/img/logos/groups/okta-large.png`, type: "image/png" },
        ],
        users: link(`${href}/users`),
        apps: link(`${href}/apps`),
      },
    },
    roles: roles.map((role) => roleAssignment(role, "GROUP", id, href)),
  };
}

export interface UserSpec {
  readonly login: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly roles?: readonly StandardRole[];
  /** Names of groups; every user is in Everyone as well, and those with a role of their own among the administrators. */
  readonly groups?: readonly string[];
}

export function user(site: Site, spec: UserSpec): User {
  const id = userId(spec.login);
  const isAdmin = (spec.roles ?? []).length > 0;
  const href = `${site.url}/api/v1/users/${id}`;
  return {
    user: {
      id,
      status: "ACTIVE",
      created,
      activated: created,
      statusChanged: created,
      lastLogin: null,
      lastUpdated,
      passwordChanged: null,
      realmId: oktaId("guo", "Default Realm"),
      type: { id: oktaId("oty", "user") },
      profile: {
        firstName: spec.firstName,
        lastName: spec.lastName,
        mobilePhone: null,
        secondEmail: null,
        login: spec.login,
        email: spec.login,
      },
      credentials: { provider: { type: "OKTA", name: "OKTA" } },
      _links: { self: link(href) },
    },
    roles: (spec.roles ?? []).map((role) => roleAssignment(role, "USER", id, href)),
    groupIds: ["Everyone", ...(isAdmin ? ["Okta Administrators"] : []), ...(spec.groups ?? [])].map(groupId),
  };
}

/** An assignment of a standard role. Users and groups carry it directly; a client has `assignmentType` CLIENT. */
export function roleAssignment(
  role: StandardRole,
  assignmentType: "USER" | "GROUP" | "CLIENT",
  assigneeId: string,
  assigneeHref: string,
): Resource {
  return {
    id: oktaId("ra1", `${role} ${assigneeId}`),
    label: roleLabels[role],
    type: role,
    status: "ACTIVE",
    created,
    lastUpdated,
    assignmentType,
    _links: { assignee: link(assigneeHref) },
  };
}

/** An assignment of a custom role on a resource set to a client. */
export function customRoleAssignment(clientId: string, clientHref: string): Resource {
  const label = "Compliance scanner";
  return {
    id: oktaId("irb", `${label} ${clientId}`),
    label,
    type: "CUSTOM",
    status: "ACTIVE",
    created,
    lastUpdated,
    assignmentType: "CLIENT",
    "resource-set": oktaId("iam", label),
    role: oktaId("cr0", label),
    _links: { assignee: link(clientHref) },
  };
}

export function customRole(site: Site, label: string, description: string): Resource {
  const id = oktaId("cr0", label);
  const href = `${site.url}/api/v1/iam/roles/${id}`;
  return {
    id,
    label,
    description,
    created,
    lastUpdated,
    _links: { permissions: link(`${href}/permissions`), self: link(href) },
  };
}

export interface ApiTokenSpec {
  readonly name: string;
  readonly ownerLogin: string;
  /** Absent: the answer has no such field, as in an official example. */
  readonly network?: JsonObject;
  /** Default: a token that a person created. Tokens of agents carry the agent's name. */
  readonly clientName?: string;
}

const tokenWindowMs = 30 * 24 * 3_600_000;

export function apiToken(site: Site, spec: ApiTokenSpec): Resource {
  const id = oktaId("00T", spec.name);
  const owner = userId(spec.ownerLogin);
  return {
    id,
    name: spec.name,
    userId: owner,
    clientName: spec.clientName ?? "Okta API",
    tokenWindow: null,
    ...(spec.network === undefined ? {} : { network: spec.network }),
    // A token lives for thirty days after its last use.
    expiresAt: new Date(site.nowMs + tokenWindowMs).toISOString(),
    created,
    lastUpdated,
    _links: {
      self: link(`${site.url}/api/v1/api-tokens/${id}`, "GET", "DELETE"),
      user: link(`${site.url}/api/v1/users/${owner}`, "GET"),
    },
  };
}
