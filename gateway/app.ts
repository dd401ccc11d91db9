import { Hono, type Context, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { HTTPException } from "hono/http-exception";
import { methodNotAllowed } from "hono/method-not-allowed";
import { requestId } from "hono/request-id";
import { AppError } from "../shared/app_error.ts";
import { anyone, requireDeclared } from "./http/allow.ts";
import type { Dependencies } from "./http/dependencies.ts";
import { eventStreamsOf, requireOwnPrefixes, type Feature } from "./features/features.ts";
import { isUnexpected, methodRefused, problemResponse } from "./http/problem.ts";
import { publishRoute } from "./http/publish_route.ts";
import { requestLog, routeOf, type RequestVariables } from "./http/request_log.ts";
import { sessionRoute } from "./http/session_route.ts";
import { statusRoutes } from "./http/status_routes.ts";
import { streamTokenRoute } from "./http/stream_token_route.ts";
import { accountOf } from "./limits.ts";
import { eventStreamRoute } from "./streaming/event_stream.ts";
import { webRoutes } from "./http/web_routes.ts";

interface Variables extends RequestVariables {
  /** Read by the routes of event streams, which are defined before there are any. */
  readonly dependencies: Dependencies;
}

type App = Hono<{ Variables: Variables }>;

/**
 * The whole gateway as one web-standard `fetch`, for every runtime. Throws `TypeError` when two features share a channel prefix, when two
 * routes have the same path, and for a route that declares no permission.
 */
export function createApp(dependencies: Dependencies, features: readonly Feature[]): App {
  requireOwnPrefixes(features);
  const app: App = new Hono();
  app.onError((error, c) => {
    // Middleware of Hono refuses with it in a feature's routes.
    if (error instanceof HTTPException && error.status < 500) return error.getResponse();
    if (isUnexpected(error)) {
      const fields = { request_id: c.get("requestId"), route: routeOf(c), error };
      dependencies.log.error(fields, "a request failed");
    }
    return problemResponse(error);
  });
  app.notFound(() => problemResponse(new AppError("not_found", "No such path")));

  app.use(requestId({ limitLength: 64 }));
  app.use(requestLog(dependencies));
  const crossOrigin = cors({
    origin: [...dependencies.corsOrigins],
    allowMethods: ["GET", "POST", "PATCH", "PUT", "DELETE"],
    allowHeaders: ["authorization", "content-type", "cache-control", "last-event-id", "if-none-match", "x-tenant-id"],
    exposeHeaders: ["location", "retry-after", "www-authenticate", "x-request-id", "etag"],
    maxAge: 600,
  });
  app.use(async (c, next) => {
    // It copies each answer, body and all; only browsers ask for it.
    if (c.req.header("origin") !== undefined || c.req.method === "OPTIONS") return crossOrigin(c, next);
    await next();
    const { headers } = c.res;
    // A route may answer with the same response again.
    if (!headers.get("vary")?.includes("Origin")) headers.append("vary", "Origin");
  });
  app.use(async (c, next) => {
    await next();
    setHeader(c, "x-request-id", c.get("requestId"));
    setHeader(c, "x-content-type-options", "nosniff");
    // A stream's URL may hold a token.
    setHeader(c, "referrer-policy", "no-referrer");
    if (!c.res.headers.has("cache-control")) setHeader(c, "cache-control", "no-store");
  });

  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed({ req }, methods) {
        // Streams answer no HEAD.
        const allowed = req.path.endsWith("/event-stream") ? ["GET"] : methods;
        return problemResponse(methodRefused(req.method, allowed));
      },
    }),
  );
  app.use(async (c, next) => {
    c.set("dependencies", dependencies);
    await next().catch((thrown: unknown) => {
      // Hono hands an error to `onError`, and throws any other value at the server, which answers 400 and logs nothing.
      throw new TypeError(`A route threw ${String(thrown)}: expected an Error`);
    });
  });

  // Before any limit: a probe is answered however busy the gateway is.
  const probed = app.routes.length;
  app.route("/", statusRoutes(dependencies));
  requireDeclared(app.routes.slice(probed));
  app.use(countRequest(dependencies));
  const platformRoutes = app.routes.length;
  app.route("/", webRoutes(dependencies));
  const tags = [...platformTags, ...features.flatMap(({ tags: own = [] }) => own)];
  const openApi = dependencies.createOpenApi(app as unknown as Hono, tags);
  app.get("/openapi.json", anyone, async (c) => {
    const text = await openApi();
    accountOf(c.req.raw).takeAnswer(text.length);
    return c.body(text, 200, { "content-type": "application/json" });
  });
  app.route("/api/v1/session", sessionRoute(dependencies));
  app.route("/api/v1", publishRoute(dependencies, features));
  for (const { routes } of features) if (routes !== undefined) app.route("/api/v1", routes(dependencies));
  const eventStreams = eventStreamsOf(features);
  for (const [mount, stream] of eventStreams) app.route("/api/v1", eventStreamRoute(mount, stream));
  app.route("/api/v1", streamTokenRoute(dependencies, eventStreams));
  requireDeclared(app.routes.slice(platformRoutes));
  return app;
}

/** As `c.header`, which copies an answer that is there, body and all. */
function setHeader(c: Context, name: string, value: string): void {
  try {
    c.res.headers.set(name, value);
  } catch {
    // The headers of an answer of `fetch` cannot be changed, those of a copy can.
    c.header(name, value);
  }
}

/** Counts a request from its arrival until its response is closed. */
function countRequest({ limits, addressOf, onClosed }: Dependencies): MiddlewareHandler {
  return async (c, next) => {
    const account = limits.open(c.req.raw, addressOf(c.req.raw, c.env));
    try {
      await limits.begin(account.holder);
      await next();
      if (c.error instanceof AppError && c.error.loginProblem !== null) account.refused();
    } finally {
      account.answered();
      if (!account.isClosed) onClosed(c.env, () => account.close());
    }
  };
}

const platformTags = [
  { name: "status", description: "For load balancers and for Prometheus" },
  { name: "session", description: "The caller's session" },
  { name: "streams", description: "Live event streams" },
  { name: "publishing", description: "Publishing with an API key, without access to the broker" },
];
