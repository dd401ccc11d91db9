import type { MiddlewareHandler } from "hono";
import type { RouterRoute } from "hono/types";
import { permissions, type Permission } from "./permissions.ts";

/** Callers that may use a route: `session` is any valid credential, `public` everybody, also with a secret that the route checks itself. */
export type Access = Permission | "session" | "public";

export interface DeclaredRoute {
  readonly method: string;
  readonly path: string;
  readonly access: Access;
}

/** The first handler of a route that needs no credential. */
export const anyone = openTo("public");

/** The first handler of a route that authenticates its caller itself, and asks for no permission. Each is another one, to be described. */
export function openTo(access: "public" | "session") {
  return declareAccess<MiddlewareHandler>(access, (_c, next) => next());
}

/** The handler, with what `requireDeclared` reads. */
export function declareAccess<Handler extends object>(
  access: Access,
  handler: Handler,
): Handler & { readonly access: Access } {
  return Object.assign(handler, { access });
}

function isAccess(access: unknown): access is Access {
  return [...Object.keys(permissions), "session", "public"].includes(access as string);
}

/**
 * Each route with the access that the first of its handlers declares. Throws `TypeError` for a route that declares none, so that a
 * gateway with one does not start.
 */
export function requireDeclared(routes: readonly RouterRoute[]): readonly DeclaredRoute[] {
  const declared = new Map<string, DeclaredRoute>();
  for (const { method, path, handler } of routes) {
    const name = `${method} ${path}`;
    if (declared.has(name)) continue;
    if (!("access" in handler && isAccess(handler.access))) {
      throw new TypeError(
        `Cannot mount ${name}: it declares no permission. Put allow("…") before its handler, or anyone for a public route`,
      );
    }
    declared.set(name, { method, path, access: handler.access });
  }
  return [...declared.values()];
}
