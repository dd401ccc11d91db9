import type { ExecutionContext } from "hono";
import { AppError } from "../../../shared/app_error.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import { createApp } from "../../app.ts";
import { checkOptions } from "../../check_options.ts";
import { runTasks } from "../../features/tasks.ts";
import { workerEntries } from "../../gateway_entries.ts";
import { accountOf } from "../../limits.ts";
import { problemResponse, toProblem } from "../../http/problem.ts";
import { createLog } from "../../observability/log.ts";
import { createStreamsObject } from "./streams_object.ts";
import type { StreamsObjectClass, WorkerOptions } from "./worker_options.ts";
import { openWorkerParts } from "./worker_parts.ts";

export interface Worker<Environment> {
  /** The module's default export. */
  readonly worker: {
    fetch(request: Request, environment: Environment, context?: ExecutionContext): Promise<Response>;
    /** Answers a cron trigger: does every task of the features. */
    scheduled(controller: unknown, environment: Environment): Promise<void>;
  };
  /** The class that the module exports by this name, for the binding of `streams`. */
  readonly StreamsObject: StreamsObjectClass<Environment>;
}

/** The gateway on Cloudflare Workers. A wrong setting is named in the log and in the answer to each request, never with its value. */
export function createWorker<Environment extends object>(
  optionsOf: (environment: Environment) => WorkerOptions,
): Worker<Environment> {
  /** Kept for the isolate's life. Nothing in it belongs to a request. */
  let opened: Awaited<ReturnType<typeof openWorker<Environment>>> | null = null;

  /**
   * Concurrent first requests each open their parts: a request that awaited another's promise would hang when that one is cancelled.
   * All go on with what was there first, or each would have limits of its own.
   */
  async function open(environment: Environment) {
    if (opened?.environment === environment) return opened;
    const worker = await openWorker(environment, optionsOf(environment));
    if (opened?.environment !== environment) opened = worker;
    return opened;
  }

  return {
    worker: {
      async fetch(request, environment, context) {
        try {
          const { app } = await open(environment);
          // The runtime stops a request whose client has left, and runs no `finally` of it.
          request.signal.addEventListener("abort", () => accountOf(request).close());
          return await app.fetch(request, environment, context);
        } catch (error) {
          return error instanceof AppError ? problemResponse(error) : startFailure(error);
        }
      },
      async scheduled(_controller, environment) {
        const { features, dependencies } = await open(environment);
        await runTasks(features, dependencies);
      },
    },
    StreamsObject: createStreamsObject(optionsOf),
  };
}

async function openWorker<Environment>(environment: Environment, options: WorkerOptions) {
  checkOptions("createWorker", workerEntries, options);
  const { features } = options;
  const dependencies = await openWorkerParts(options);
  return { environment, features, dependencies, app: createApp(dependencies, features) };
}

/** A wrong or missing variable: named for the operator, in the log and in the answer, and never with its value. */
function startFailure(error: unknown): Response {
  const isKnown = error instanceof UsageError;
  createLog().error({ error }, isKnown ? "the configuration is wrong" : "the gateway could not start");
  const problem = toProblem(error);
  return Response.json(isKnown ? { ...problem, detail: error.message } : problem, {
    status: 500,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store" },
  });
}
