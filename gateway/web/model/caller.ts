import { permissions, type Permission } from "../../auth/permissions.ts";
import type { Caller } from "../caller_wire.ts";

/** What the page offers to the caller. The gateway checks each request itself. */
export function mayDo({ tenant, scopes }: Caller, permission: Permission): boolean {
  const { roles, scope }: { readonly roles: readonly string[]; readonly scope: string } = permissions[permission];
  return scopes === null ? roles.includes(tenant?.role ?? "") : scopes.includes(scope);
}
