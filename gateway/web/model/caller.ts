import { keyMay, rolesOf, type Permission } from "../../auth/permissions.ts";
import type { Caller } from "../caller_wire.ts";

/** For what the page offers: the gateway checks each request itself. */
export function mayDo({ tenant, scopes }: Pick<Caller, "tenant" | "scopes">, permission: Permission): boolean {
  const role = tenant?.role ?? null;
  return role === null ? keyMay(permission, scopes ?? []) : rolesOf(permission).includes(role);
}
