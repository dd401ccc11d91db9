import type { MiddlewareHandler } from "hono";
import type { Database } from "../../drizzle/database.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { requireAuthority } from "../auth/membership.ts";
import type { Permission } from "../auth/permissions.ts";
import type { AllowedPrincipal } from "../auth/principal.ts";
import { declareAccess } from "../auth/access.ts";
import { accountOf } from "../limits.ts";

/** What a route finds in its context after `allow`. */
export interface Allowed {
  Variables: { readonly principal: AllowedPrincipal };
}

/** The first handler of every route that is for members and keys: `routes.get("/scans", allow("read"), async (c) => …)`. */
export type Allow = (permission: Permission) => MiddlewareHandler<Allowed>;

interface AllowOptions {
  readonly authenticator: Authenticator;
  readonly database: Database;
}

/**
 * Authenticates and authorizes the caller before the route's own handler runs and before any of the request's body is read. The
 * statements of the handler check the authority again, each in its own transaction.
 */
export function createAllow({ authenticator, database }: AllowOptions): Allow {
  return (permission) =>
    declareAccess<MiddlewareHandler<Allowed>>(permission, async (c, next) => {
      const principal = await authenticator.authenticate(c.req.raw, permission);
      c.set("principal", principal);
      // A key's validity and scopes were read from the database just now; a token says nothing about its subject's role.
      if (principal.kind === "user") await requireAuthority(database, principal);
      accountOf(c.req.raw).belongsTo(principal.tenantId);
      await next();
    });
}
