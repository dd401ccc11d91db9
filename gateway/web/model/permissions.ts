import { keyMay, rolesOf, type Permission } from "../../auth/permissions.ts";
import type { Session } from "../../http/session_schema.ts";

/** Decides which actions the page offers; the gateway checks each request itself. */
export function mayDo({ tenant, scopes }: Pick<Session, "tenant" | "scopes">, permission: Permission): boolean {
  const role = tenant?.role ?? null;
  return role === null ? keyMay(permission, scopes ?? []) : rolesOf(permission).includes(role);
}
