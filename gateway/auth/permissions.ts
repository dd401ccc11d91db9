import type { Role, Scope } from "../../shared/schemas/team.ts";

interface PermissionRule {
  readonly roles: readonly Role[];
  /** API keys with all of these scopes may; with an empty list no key may. */
  readonly scopes: readonly Scope[];
  /** Shown in the table of docs/access.md. */
  readonly description: string;
}

/**
 * Permissions with their roles and scopes. Each route names one (`gateway/http/allow.ts`), and each statement of it is checked
 * against the caller's role or scopes as they are then (`membership.ts`). docs/reference/routes.md lists the routes of each.
 */
export const permissions = {
  read: {
    roles: ["viewer", "operator", "admin"],
    scopes: ["read"],
    description: "read and follow the tenant's data",
  },
  register: {
    roles: ["operator", "admin"],
    scopes: ["publish"],
    description: "register scans and cancel them",
  },
  publish: { roles: [], scopes: ["publish"], description: "store results and publish events (programs only)" },
  decide: {
    roles: ["operator", "admin"],
    scopes: ["admin"],
    description: "waive and attest findings; delete scans and monitors",
  },
  manage: {
    roles: ["admin"],
    scopes: ["admin"],
    description:
      "the tenant itself, its export and its audit trail; delete organizations; list and remove members and API keys",
  },
  appoint: {
    roles: ["admin"],
    scopes: [],
    description: "add members, change their roles, and create API keys (people only)",
  },
} as const satisfies Readonly<Record<string, PermissionRule>>;

export type Permission = keyof typeof permissions;

export function rolesOf(permission: Permission): readonly Role[] {
  return permissions[permission].roles;
}

/** True for a key that has every scope which the permission needs. */
export function keyMay(permission: Permission, scopes: readonly string[]): boolean {
  const { scopes: needed }: PermissionRule = permissions[permission];
  return needed.length > 0 && needed.every((scope) => scopes.includes(scope));
}
