import type { MiddlewareHandler } from "hono";
import type { Database } from "../../drizzle/database.ts";
import { declareAccess } from "../auth/access.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { accessOf, requireAuthority, type Access } from "../auth/membership.ts";
import { permissions, type Permission } from "../auth/permissions.ts";
import type { AllowedPrincipal } from "../auth/principal.ts";
import { accountOf } from "../limits.ts";

/** Variables of a route's context after `allow`: the caller, and the ways to query as the caller. */
export interface Allowed {
  Variables: Access & { readonly principal: AllowedPrincipal };
}

/** The first handler of every route that is for members and keys: `routes.get("/jobs", allow("read"), async (c) => …)`. */
export type Allow = (permission: Permission) => MiddlewareHandler<Allowed>;

interface AllowEnvironment {
  Variables: Allowed["Variables"] & {
    readonly dependencies: { readonly authenticator: Authenticator; readonly database: Database };
  };
}

/**
 * Authenticates and authorizes the caller before the route's own handler runs and before any of the request's body is read. The
 * statements of the handler check the authority again, each in its own transaction.
 */
export const allow: Allow = (permission) => allowBy(permission, true);

/**
 * As `allow`, for a handler that changes nothing: its first transaction is the check, and where it makes none, its answer waits for
 * one. So reading waits once for the database.
 */
export const allowReader: Allow = (permission) => allowBy(permission, false);

function allowBy(permission: Permission, isCheckedFirst: boolean): MiddlewareHandler<Allowed> {
  if (!Object.hasOwn(permissions, permission)) {
    throw new TypeError(`Cannot allow "${permission}": expected one of ${Object.keys(permissions).join(", ")}`);
  }
  const handler: MiddlewareHandler<AllowEnvironment> = async (c, next) => {
    const { authenticator, database } = c.var.dependencies;
    const principal = await authenticator.authenticate(c.req.raw, permission);
    c.set("principal", principal);
    let isChecked = isCheckedFirst;
    for (const [name, query] of Object.entries(accessOf(database, principal))) {
      c.set(name as "read", (work) => {
        isChecked = true;
        return (query as Access["read"])(work);
      });
    }
    // A token says nothing about its subject's role, and a key may have been revoked since it was found.
    if (isCheckedFirst) await requireAuthority(database, principal);
    accountOf(c.req.raw).belongsTo(principal.tenantId);
    await next();
    // Also a refusal says nothing to a caller without the authority.
    if (!isChecked) await requireAuthority(database, principal);
  };
  return declareAccess(permission, handler as MiddlewareHandler);
}
