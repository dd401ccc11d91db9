import type { Role, Scope } from "../../shared/schemas/team.ts";

interface PermissionRule {
  /** Members of these roles may. */
  readonly roles: readonly Role[];
  /** API keys with this scope may. */
  readonly scope: Scope;
  /** For the table in docs/permissions.md. */
  readonly description: string;
}

/**
 * Who may do what: each route names one of these (`gateway/http/allow.ts`), and each statement of it is checked against the
 * caller's role or scopes as they are then (`membership.ts`). docs/permissions.md has it with every route.
 */
export const permissions = {
  read: {
    roles: ["viewer", "operator", "admin"],
    scope: "read",
    description: "read and follow what the tenant has",
  },
  register: { roles: ["operator", "admin"], scope: "publish", description: "register scans and cancel them" },
  publish: { roles: [], scope: "publish", description: "store results and publish events, which programs do" },
  decide: { roles: ["operator", "admin"], scope: "admin", description: "waive and attest findings" },
  delete: { roles: ["operator", "admin"], scope: "admin", description: "delete scans and monitors" },
  manage: {
    roles: ["admin"],
    scope: "admin",
    description: "members, API keys, webhooks and the tenant itself; read the audit trail",
  },
} as const satisfies Readonly<Record<string, PermissionRule>>;

export type Permission = keyof typeof permissions;

export function rolesOf(permission: Permission): readonly Role[] {
  return permissions[permission].roles;
}
