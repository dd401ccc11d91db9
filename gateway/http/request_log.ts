import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";

export interface RequestLogOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly nowMs: () => number;
}

/** Set for every request, for what is logged later about it. */
export interface RequestVariables {
  readonly requestId: string;
}

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * One line and one count for each request when its answer begins. The route's template stands for the URL, so neither a
 * query nor an id is logged, and headers are not at all.
 */
export function requestLog(options: RequestLogOptions): MiddlewareHandler<{ Variables: RequestVariables }> {
  return async (c, next) => {
    const startedAtMs = options.nowMs();
    const given = c.req.raw.headers.get("x-request-id");
    const requestId = given !== null && requestIdPattern.test(given) ? given : crypto.randomUUID();
    c.set("requestId", requestId);
    const method = c.req.method;
    await next();
    c.header("x-request-id", requestId);
    // The clock may be set back.
    const durationMs = Math.max(0, options.nowMs() - startedAtMs);
    const route = routeOf(c);
    const { status } = c.res;
    options.metrics.requestAnswered({ method, route, status, seconds: durationMs / 1000 });
    const fields = { request_id: requestId, method, route, status, duration_ms: Math.round(durationMs) };
    // A client that reconnects indefinitely with an expired token must not fill the log.
    if (status === 401 || route === "/healthz" || route === "/readyz") options.log.debug(fields, "request");
    else if (status >= 500) options.log.warn(fields, "request");
    else options.log.info(fields, "request");
  };
}

/** The template of the route that answered. */
export function routeOf(c: Context): string {
  const route = matchedRoutes(c).findLast(({ path }) => !path.includes("*"));
  return route?.path ?? "unmatched";
}
