import { Hono } from "hono";
import { anyone } from "../auth/access.ts";
import { PermissionDenied } from "../../shared/app_error.ts";
import type { Dependencies } from "./dependencies.ts";
import { toProblem } from "./problem.ts";
import { AppError } from "../../shared/app_error.ts";

/** For load balancers and for Prometheus. */
export function statusRoutes({ readiness, metricsText, peerAddress }: Dependencies): Hono {
  const routes = new Hono();

  routes.get("/healthz", anyone, (c) => c.json({ status: "ok" }));

  routes.get("/readyz", anyone, async (c) => {
    const { database, broker, isDraining } = await readiness.check();
    const checks = { database: database ? "ok" : "away", broker: broker ? "ok" : "away", draining: isDraining };
    if (database && broker && !isDraining) return c.json({ status: "ready", checks });
    const reasons = [
      ...(database ? [] : ["the database is unavailable"]),
      ...(broker ? [] : ["the broker is unavailable"]),
      ...(isDraining ? ["the gateway is shutting down"] : []),
    ];
    const problem = toProblem(new AppError("unavailable", `Not ready: ${reasons.join(", ")}`));
    const headers = { "content-type": "application/problem+json", "retry-after": "2" };
    return c.body(JSON.stringify({ ...problem, checks }), 503, headers);
  });

  if (metricsText !== null) {
    routes.get("/metrics", anyone, async (c) => {
      if (!isLocal(peerAddress(c.env), c.req.raw.headers)) {
        throw new PermissionDenied("Metrics are for this machine only: set METRICS_PORT to serve them elsewhere");
      }
      const { body, contentType } = await metricsText.read();
      return c.body(body, 200, { "content-type": contentType });
    });
  }

  return routes;
}

/**
 * From this machine, and not forwarded by a proxy. A proxy that adds no header (nginx by default) is not
 * recognized: a deployment behind one needs METRICS_PORT.
 */
function isLocal(address: string | null, headers: Headers): boolean {
  if (address === null || !/^(?:127\.|::1$|::ffff:127\.)/.test(address)) return false;
  return !["forwarded", "x-forwarded-for", "x-real-ip", "via"].some((name) => headers.has(name));
}
