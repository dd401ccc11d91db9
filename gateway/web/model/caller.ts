import { permissions, type Permission } from "../../auth/permissions.ts";
import type { Role, Scope } from "../../../shared/schemas/team.ts";
import type { Caller } from "../caller_wire.ts";

/** For what the page offers: the gateway checks each request itself. */
export function mayDo({ tenant, scopes }: Pick<Caller, "tenant" | "scopes">, permission: Permission): boolean {
  const { roles, scope }: { readonly roles: readonly Role[]; readonly scope: Scope } = permissions[permission];
  const role = tenant?.role ?? null;
  return role === null ? (scopes ?? []).includes(scope) : roles.includes(role);
}
