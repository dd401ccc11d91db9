import type { MiddlewareHandler } from "hono";
import type { RouterRoute } from "hono/types";
import { findTargetHandler } from "hono/utils/handler";
import type { Database } from "../../drizzle/database.ts";
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
 * one. So reading waits once for the database, but for the first time with a credential.
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
    const account = accountOf(c.req.raw);
    // A token says nothing about its subject's role, and a key may have been revoked since it was found.
    if (account.isNew(principal) || isCheckedFirst) await requireAuthority(database, principal);
    account.belongsTo(principal.tenantId);
    await next();
    // Also a refusal says nothing to a caller without the authority.
    if (!isChecked) await requireAuthority(database, principal);
  };
  return declareAccess(permission, handler as MiddlewareHandler);
}

/** The first handler of a route that needs no credential. */
export const anyone = openTo("public");

/** The first handler of a route that authenticates its caller itself, and asks for no permission. Each is another one, to be described. */
export function openTo(access: "public" | "session") {
  return declareAccess<MiddlewareHandler>(access, (_c, next) => next());
}

/** Callers that may use a route: `session` is any valid credential, `public` everybody, also with a secret that the route checks itself. */
type RouteAccess = Permission | "session" | "public";

/** The handler, with what `requireDeclared` reads. */
export function declareAccess<Handler extends object>(
  access: RouteAccess,
  handler: Handler,
): Handler & { readonly access: RouteAccess } {
  return Object.assign(handler, { access });
}

export interface DeclaredRoute {
  readonly method: string;
  readonly path: string;
  readonly access: RouteAccess;
}

/**
 * Each route with the access that the first of its handlers declares. Throws `TypeError` for a route that declares none, and for one
 * behind a handler that answers each of its requests, so that a gateway with one does not start.
 */
export function requireDeclared(routes: readonly RouterRoute[]): readonly DeclaredRoute[] {
  const declared = new Map<string, DeclaredRoute>();
  const answered = new Set<string>();
  for (const { method, path, handler: mounted } of routes) {
    const pattern = path.replaceAll(/\/:\w+/g, "/:");
    const name = `${method} ${pattern}`;
    // Hono wraps the handlers of an app that has its own `onError`.
    const handler = findTargetHandler(mounted);
    const access = "access" in handler && isAccess(handler.access) ? handler.access : null;
    if (access !== null && (answered.has(name) || answered.has(`ALL ${pattern}`))) {
      throw new TypeError(`Cannot mount ${method} ${path}: another route has this method and path`);
    }
    if (access !== null) declared.set(name, declared.get(name) ?? { method, path, access });
    else if (declared.has(name)) answered.add(name);
    else {
      throw new TypeError(
        `Cannot mount ${method} ${path}: it declares no permission. Put allow("…") before its handler, or anyone for a public route`,
      );
    }
  }
  return [...declared.values()];
}

function isAccess(access: unknown): access is RouteAccess {
  return [...Object.keys(permissions), "session", "public"].includes(access as string);
}
