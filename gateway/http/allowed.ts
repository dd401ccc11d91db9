import type { MiddlewareHandler } from "hono";
import type { Access } from "../auth/membership.ts";
import type { Permission } from "../auth/permissions.ts";
import type { AllowedPrincipal } from "../auth/principal.ts";

/** Variables of a route's context after `allow`: the caller, and the ways to query as the caller. */
export interface Allowed {
  Variables: Access & { readonly principal: AllowedPrincipal };
}

/** The first handler of every route that is for members and keys: `routes.get("/jobs", allow("read"), async (c) => …)`. */
export type Allow = (permission: Permission) => MiddlewareHandler<Allowed>;
