import type { ExecutionContext } from "hono";
import { createApp } from "../app.ts";
import { AppError } from "../../shared/app_error.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { markStale } from "../features/monitors/mark_stale.ts";
import { deleteByAge } from "../features/retention.ts";
import { expireScans, staleScanMinutes } from "../features/scans/expire_scans.ts";
import type { WorkerEnvironment } from "./worker/bindings.ts";
import { problemResponse } from "../http/problem.ts";
import { createLog } from "../observability/log.ts";
import { PolledTurns } from "./worker/polled_turns.ts";
import { openWorkerParts } from "./worker/worker_parts.ts";

export { StreamsObject } from "./worker/streams_object.ts";

/** The gateway on Cloudflare Workers; `wrangler.toml` says what is bound to it. */
export default {
  async fetch(request: Request, environment: WorkerEnvironment, context?: ExecutionContext): Promise<Response> {
    try {
      const { app, dependencies, starts } = await gatewayOf(environment);
      return await starts.run(dependencies.holderOf(request, environment), async () =>
        app.fetch(request, environment, context),
      );
    } catch (error) {
      return error instanceof AppError ? problemResponse(error) : startFailure(error);
    }
  },

  /** Called by the cron trigger. */
  async scheduled(_controller: unknown, environment: WorkerEnvironment): Promise<void> {
    const { dependencies } = await gatewayOf(environment);
    await Promise.all([
      expireScans({ ...dependencies, olderThanMinutes: staleScanMinutes }),
      markStale(dependencies),
      deleteByAge(dependencies),
    ]);
  },
};

interface WorkerGateway {
  readonly environment: WorkerEnvironment;
  readonly dependencies: Dependencies;
  readonly app: ReturnType<typeof createApp>;
  readonly starts: PolledTurns;
}

/** However many requests one address sends at once, those of another find the isolate and the database free. */
const startsAtOnce = 8;
/**
 * A request that takes longer waits for its client or for somebody else, and keeps nobody from beginning. With less, a busy isolate
 * would take slow requests for waiting ones, begin more, and be busier still.
 */
const startMs = 100;

/** Kept for the isolate's life. Nothing in it belongs to a request. */
let gateway: WorkerGateway | null = null;

/**
 * Concurrent first requests each open their parts: a request that awaited another's promise would hang when that one is cancelled.
 * All go on with what was there first, or each would have turns of its own.
 */
async function gatewayOf(environment: WorkerEnvironment): Promise<WorkerGateway> {
  if (gateway?.environment === environment) return gateway;
  const dependencies = await openWorkerParts(environment);
  if (gateway?.environment === environment) return gateway;
  const starts = new PolledTurns(startsAtOnce, Date.now, { maxRunMs: startMs });
  gateway = { environment, dependencies, app: createApp(dependencies), starts };
  return gateway;
}

/** A wrong or missing variable: named for the operator, in the log and in the answer, and never with its value. */
function startFailure(error: unknown): Response {
  const isKnown = error instanceof UsageError;
  createLog().error({ error }, isKnown ? "the configuration is wrong" : "the gateway could not start");
  const problem = {
    type: "urn:scanstream:problem:internal",
    title: "Internal error",
    status: 500,
    detail: isKnown ? error.message : "Something went wrong here; it was logged",
    code: "internal",
  };
  return Response.json(problem, {
    status: 500,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store" },
  });
}
