import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { parseTraceparent } from "../observability/traceparent.ts";
import type { Traces } from "../observability/traces.ts";

export interface RequestLogOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly traces?: Traces | undefined;
  readonly nowMs: () => number;
}

/** Set for every request, for what is logged later about it. */
export interface RequestVariables {
  readonly requestId: string;
  /** The ids of the request's span; undefined where nothing is traced. */
  readonly trace: Readonly<Record<string, string>> | undefined;
}

/** Asked every few seconds by machines. */
const untraced: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

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
    if (options.traces === undefined || untraced.has(c.req.path)) await next();
    else {
      const traceparent = c.req.raw.headers.get("traceparent");
      await options.traces.request({ method, traceparent, requestId }, async ({ traceId, spanId }) => {
        c.set("trace", { trace_id: traceId, span_id: spanId });
        await next();
        return { route: routeOf(c), status: c.res.status };
      });
    }
    c.header("x-request-id", requestId);
    // The clock may be set back.
    const durationMs = Math.max(0, options.nowMs() - startedAtMs);
    const route = routeOf(c);
    const { status } = c.res;
    options.metrics.requestAnswered({ method, route, status, seconds: durationMs / 1000 });
    const fields = {
      request_id: requestId,
      ...traceFields(c.req.raw, c.get("trace")),
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

/** What joins this line with those of other services about the same request, and with its span where it has one. */
export function traceFields({ headers }: Request, span: RequestVariables["trace"]): Readonly<Record<string, string>> {
  if (span !== undefined) return span;
  const caller = parseTraceparent(headers.get("traceparent"));
  return caller === null ? {} : { trace_id: caller.traceId, parent_span_id: caller.spanId };
}
