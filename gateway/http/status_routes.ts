import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import * as v from "valibot";
import { openTo } from "./allow.ts";
import type { Dependencies } from "./dependencies.ts";
import { problemSchema, toProblem } from "./problem.ts";
import { AppError, PermissionDenied } from "../../shared/app_error.ts";
import { isLoopback } from "../../shared/loopback.ts";
import { answer, component, json, parameter, problem } from "../description/operation.ts";

const availability = v.picklist(["ok", "away"]);
const healthSchema = v.object({ status: v.literal("ok") });
const checksSchema = v.object({ database: availability, broker: availability, draining: v.boolean() });
const readySchema = v.object({ status: v.literal("ready"), checks: checksSchema });
const notReadySchema = v.object({ ...problemSchema.entries, checks: checksSchema });

const status = { tags: ["status"], security: [] };

const getHealth = describeRoute({
  ...status,
  operationId: "getHealth",
  summary: "Liveness: the process runs",
  responses: { 200: json(component("Health", healthSchema), "Alive") },
});

const onlyDraining =
  "Not ready from SIGTERM on only. For a proxy that sends nothing to a gateway that is not ready: without a broker scans are still stored";

const getReadiness = describeRoute({
  ...status,
  operationId: "getReadiness",
  summary: "Readiness: database and broker answer",
  description: "Also not ready from SIGTERM on, for DRAIN_DELAY_SECONDS before the port is closed.",
  parameters: [parameter("query", "only", v.pipe(v.literal("draining"), v.description(onlyDraining)))],
  responses: {
    200: json(component("Ready", readySchema), "Ready"),
    503: problem("Not ready, with what is unavailable", ["Retry-After"], component("NotReady", notReadySchema)),
  },
});

const getMetrics = describeRoute({
  ...status,
  operationId: "getMetrics",
  summary: "Prometheus metrics",
  description: "Only from this machine, or on METRICS_PORT.",
  responses: {
    200: answer("text/plain", v.string(), "Metrics"),
    403: problem("Not from this machine"),
  },
});

/** Answers load balancers and Prometheus. */
export function statusRoutes({ readiness, metricsText, peerAddress }: Dependencies): Hono {
  const routes = new Hono();

  routes.get("/healthz", openTo("public"), getHealth, (c) => c.json({ status: "ok" }));

  routes.get("/readyz", openTo("public"), getReadiness, async (c) => {
    const { database, broker } = await readiness.check();
    const isDraining = readiness.isDraining();
    const checks = { database: database ? "ok" : "away", broker: broker ? "ok" : "away", draining: isDraining };
    const isUp = (database && broker) || c.req.query("only") === "draining";
    if (isUp && !isDraining) return c.json({ status: "ready", checks });
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
    routes.get("/metrics", openTo("public"), getMetrics, async (c) => {
      if (!isLocal(peerAddress(c.env), c.req.raw) || isForwarded(c.req.raw)) {
        throw new PermissionDenied(
          "Metrics are available only on this machine, at localhost. Set METRICS_PORT to serve them to others",
        );
      }
      const { body, contentType } = await metricsText.read();
      return c.body(body, 200, { "content-type": contentType });
    });
  }

  return routes;
}

/** From this machine, by its loopback name. A name that an attacker's DNS points at loopback is no such name. */
export function isLocal(address: string | null, { url }: Request): boolean {
  if (address === null || !/^(?:127\.|::1$|::ffff:127\.)/.test(address)) return false;
  return isLoopback(new URL(url).hostname);
}

/** A proxy that changes `Host` and adds no header (nginx by default) is not recognized: a deployment behind one needs METRICS_PORT. */
function isForwarded({ headers }: Request): boolean {
  return ["forwarded", "x-forwarded-for", "x-real-ip", "via"].some((name) => headers.has(name));
}
