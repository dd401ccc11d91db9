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
export const allow: Allow = (permission) => {
  if (!Object.hasOwn(permissions, permission)) {
    throw new TypeError(`Cannot allow "${permission}": expected one of ${Object.keys(permissions).join(", ")}`);
  }
  const handler: MiddlewareHandler<AllowEnvironment> = async (c, next) => {
    const { authenticator, database } = c.var.dependencies;
    const principal = await authenticator.authenticate(c.req.raw, permission);
    c.set("principal", principal);
    for (const [name, query] of Object.entries(accessOf(database, principal))) c.set(name as "read", query);
    // A token says nothing about its subject's role, and a key may have been revoked since it was found.
    await requireAuthority(database, principal);
    accountOf(c.req.raw).belongsTo(principal.tenantId);
    await next();
  };
  return declareAccess(permission, handler as MiddlewareHandler);
};
