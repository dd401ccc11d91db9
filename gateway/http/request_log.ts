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
/** https://www.w3.org/TR/trace-context/#traceparent-header */
const traceparentPattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/;

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
    await next();
    c.header("x-request-id", requestId);
    const durationMs = options.nowMs() - startedAtMs;
    const route = routeOf(c);
    const { status } = c.res;
    const method = c.req.method;
    options.metrics.requestAnswered({ method, route, status, seconds: durationMs / 1000 });
    const fields = {
      request_id: requestId,
      ...traceFields(c),
      method,
      route,
      status,
      duration_ms: Math.round(durationMs),
    };
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

/** What joins this line with those of other services about the same request. */
export function traceFields(c: Context): Readonly<Record<string, string>> {
  const [, traceId, spanId] = traceparentPattern.exec(c.req.raw.headers.get("traceparent") ?? "") ?? [];
  return traceId === undefined || spanId === undefined ? {} : { trace_id: traceId, parent_span_id: spanId };
}
