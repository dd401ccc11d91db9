import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { AppError, isUnavailable } from "../../shared/app_error.ts";
import { errorCode } from "../../shared/error_code.ts";
import type { Principal } from "../auth/principal.ts";
import type { Dependencies } from "./dependencies.ts";

type RequestLogOptions = Pick<Dependencies, "log" | "metrics" | "addressOf">;

/** Set for every request, for what is logged later about it. */
export interface RequestVariables {
  readonly requestId: string;
  /** Known once the caller is authenticated. */
  readonly principal?: Principal;
}

/**
 * One line and one count for each request when its answer begins. The route's template stands for the URL, so neither a
 * query nor an id is logged, and headers are not at all. A refused login says why, at most once a second for each address.
 */
export function requestLog(options: RequestLogOptions): MiddlewareHandler<{ Variables: RequestVariables }> {
  const mayLog = createOncePerSecond();
  return async (c, next) => {
    const startedAtMs = performance.now();
    const method = c.req.method;
    await next();
    const durationMs = performance.now() - startedAtMs;
    const route = routeOf(c);
    const { status } = c.res;
    const principal = c.get("principal");
    options.metrics.requestAnswered({ method, route, status, seconds: durationMs / 1000 });
    const fields = {
      request_id: c.get("requestId"),
      method,
      route,
      status,
      duration_ms: Math.round(durationMs),
      ...(principal !== undefined && { tenant_id: principal.tenantId, principal: `${principal.kind}:${principal.id}` }),
      ...whyUnavailable(c.error),
    };
    const reason = c.error instanceof AppError ? c.error.loginProblem : null;
    if (reason !== null) {
      const address = options.addressOf(c.req.raw, c.env);
      // A client that reconnects indefinitely with an expired token must not fill the log.
      if (mayLog(address)) options.log.info({ ...fields, reason, address }, "login refused");
    } else if (status === 401 || route === "/healthz" || route === "/readyz") options.log.debug(fields, "request");
    else if (status >= 500) options.log.warn(fields, "request");
    else options.log.info(fields, "request");
  };
}

/** For the log. No more of the cause than its code: a driver's message may quote what was sent. */
export function whyUnavailable(error: unknown): { readonly detail?: string; readonly cause?: string | null } {
  return isUnavailable(error) ? { detail: error.message, cause: causeCode(error) } : {};
}

/** The first code among the causes: `fetch` hides the network's in the cause of its error. */
function causeCode(error: Error): string | null {
  const { cause } = error;
  return cause instanceof Error ? (errorCode(cause) ?? causeCode(cause)) : null;
}

/** In one second, so that a flood from many addresses does not fill the log either. */
const maxLinesPerSecond = 100;

/** True once a second for each name. */
function createOncePerSecond(): (name: string) => boolean {
  const seen = new Set<string>();
  let second = 0;
  return (name) => {
    const present = Math.floor(performance.now() / 1000);
    if (present !== second) seen.clear();
    second = present;
    if (seen.has(name) || seen.size >= maxLinesPerSecond) return false;
    seen.add(name);
    return true;
  };
}

/** The template of the route that answered. */
export function routeOf(c: Context): string {
  return matchedRoutes(c).findLast(({ path }) => !path.includes("*"))?.path ?? "unmatched";
}
