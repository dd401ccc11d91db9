import type { MiddlewareHandler } from "hono";

/** What a page of another origin may send and read. No cookies are used, so credentials are not allowed. */
const allowedMethods = "GET, POST, PATCH, PUT, DELETE";
const allowedHeaders = "authorization, content-type, cache-control, last-event-id, if-none-match, x-tenant-id";
const exposedHeaders = "location, retry-after, www-authenticate, x-request-id, etag";
const preflightMaxAgeSeconds = "600";

/**
 * The headers that let a listed origin read an answer, for every answer: `EventSource` takes a 204 or a refusal without
 * them for a network error and reconnects indefinitely. An origin that is not listed gets none.
 */
function corsHeaders(origins: readonly string[], origin: string | null): Readonly<Record<string, string>> {
  // Always: a cache must not hand one origin's answer to another.
  if (origin === null || !origins.includes(origin)) return { vary: "Origin" };
  return {
    vary: "Origin",
    "access-control-allow-origin": origin,
    "access-control-expose-headers": exposedHeaders,
  };
}

/** Answers preflights, and puts `corsHeaders` on everything else. */
export function cors(origins: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    const headers = corsHeaders(origins, c.req.raw.headers.get("origin"));
    if (c.req.method === "OPTIONS" && c.req.raw.headers.has("access-control-request-method")) {
      return c.body(null, 204, "access-control-allow-origin" in headers ? preflight(headers) : headers);
    }
    await next();
    for (const [name, value] of Object.entries(headers)) {
      c.header(name, value, { append: name === "vary" && c.res.headers.has("vary") });
    }
    return undefined;
  };
}

function preflight(headers: Readonly<Record<string, string>>): Record<string, string> {
  return {
    ...headers,
    "access-control-allow-methods": allowedMethods,
    "access-control-allow-headers": allowedHeaders,
    "access-control-max-age": preflightMaxAgeSeconds,
  };
}
