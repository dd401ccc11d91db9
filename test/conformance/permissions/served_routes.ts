import { createApp } from "../../../gateway/app.ts";
import type { Permission } from "../../../gateway/auth/permissions.ts";
import type { Dependencies } from "../../../gateway/http/dependencies.ts";

export interface ServedRoute {
  readonly method: string;
  readonly path: string;
  /** `session`: any valid credential; `public`: none, or one of its own. */
  readonly access: Permission | "session" | "public";
}

/** What is served without a member's or a key's credential. A route that is new and not here declares its permission. */
const publicRoutes: ReadonlySet<string> = new Set([
  "GET /",
  "GET /callback",
  "GET /assets/:file",
  "GET /healthz",
  "GET /readyz",
  "GET /metrics",
  "GET /openapi.json",
  "GET /asyncapi.json",
  "GET /docs",
  "GET /demo/session",
  "GET /sign-in",
  "GET /hooks/okta/:id",
  "POST /hooks/okta/:id",
]);

/** Every route of the gateway, from the gateway's own table. */
export function servedRoutes(): readonly ServedRoute[] {
  const { routes } = createApp(anything as Dependencies);
  const served = new Map<string, ServedRoute>();
  for (const { method, path, handler } of routes) {
    if (method === "ALL") continue;
    const name = `${method} ${path}`;
    const access = permissionOf(handler) ?? served.get(name)?.access ?? undeclared(name, path);
    served.set(name, { method, path, access });
  }
  return [...served.values()];
}

/** For dependencies that are handed on and, before the first request, not used. */
const anything: unknown = new Proxy(() => anything, { get: () => anything });

function permissionOf(handler: object): Permission | null {
  return "permission" in handler ? (handler.permission as Permission) : null;
}

/** Throws for a route that says nothing. */
function undeclared(name: string, path: string): ServedRoute["access"] {
  if (publicRoutes.has(name)) return "public";
  if (name === "GET /api/v1/session") return "session";
  // Opened by `openEventStream`, which asks for this one.
  if (name.startsWith("GET ") && path.endsWith("/event-stream")) return "read";
  throw new Error(
    `${name} declares no permission: expected allow(…) before its handler, or a place among the public routes`,
  );
}
