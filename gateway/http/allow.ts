import type { MiddlewareHandler } from "hono";
import { AppError } from "../../shared/app_error.ts";
import type { Database } from "../../drizzle/database.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { requireAuthority } from "../auth/membership.ts";
import type { Permission } from "../auth/permissions.ts";
import type { AllowedPrincipal } from "../auth/principal.ts";

/** What a route finds in its context after `allow`. */
export interface Allowed {
  Variables: { readonly principal: AllowedPrincipal };
}

/** The first handler of every route that is for members and keys: `routes.get("/scans", allow("read"), async (c) => …)`. */
export type Allow = (permission: Permission) => MiddlewareHandler<Allowed> & { readonly permission: Permission };

interface AllowOptions {
  readonly authenticator: Authenticator;
  readonly database: Database;
}

/**
 * Authenticates the caller before any of the request's body is read. Its role is checked with the first statement; a request
 * that is refused before that one, for its body or its path, is refused for the role where that does not allow it either.
 */
export function createAllow({ authenticator, database }: AllowOptions): Allow {
  return (permission) => {
    const handler: MiddlewareHandler<Allowed> = async (c, next) => {
      const principal = await authenticator.authenticate(c.req.raw, permission);
      c.set("principal", principal);
      await next();
      if (c.error === undefined || !refusalsBeforeQuery.has(c.res.status)) return;
      await requireAuthority(database, principal).catch((error: unknown) => {
        // An outage leaves the refusal as it is.
        if (!(error instanceof AppError && error.code === "unavailable")) throw error;
      });
    };
    return Object.assign(handler, { permission });
  };
}

const refusalsBeforeQuery: ReadonlySet<number> = new Set([400, 404, 413, 415, 422]);
