import type { ExecutionContext } from "hono";
import { findApiKey } from "../../../drizzle/across_tenants.ts";
import { ping } from "../../../drizzle/transactions.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import type { MessagePublisher } from "../../../shared/broker.ts";
import { createPublisher } from "../../../shared/send_event.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import { createApp } from "../../app.ts";
import { createAuthenticator } from "../../auth/authenticate.ts";
import { clientAddress } from "../../auth/client_address.ts";
import { createIssuerVerifier } from "../../auth/jwt.ts";
import { createSignIn } from "../../auth/sign_in.ts";
import { createStreamTokens } from "../../auth/stream_tokens.ts";
import { checkOptions } from "../../check_options.ts";
import { toBounds } from "../../config.ts";
import { runTasks } from "../../features/features.ts";
import { workerEntries } from "../../gateway_entries.ts";
import type { Dependencies } from "../../http/dependencies.ts";
import { problemResponse, toProblem } from "../../http/problem.ts";
import { accountOf, createLimits } from "../../limits.ts";
import { createLog } from "../../observability/log.ts";
import { noMetrics } from "../../observability/metrics.ts";
import { createReadiness } from "../../observability/readiness.ts";
import { createObjectStreams, createStreamsObject, isolateBytes } from "./streams_object.ts";
import type { Fetcher, StreamsObjectClass, WorkerOptions } from "./worker_options.ts";

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

/**
 * Opens the parts of a Worker besides its objects. Every part serves any number of requests and keeps nothing open between them:
 * each request has its own I/O. Rejects with `UsageError`.
 */
async function openWorkerParts(options: WorkerOptions): Promise<Dependencies> {
  const { auth, streams, shardsPerTenant = 1, assets, signIn = null, log = createLog() } = options;
  const database = options.database.openForRequests();
  const broker = createRequestBroker(options);
  const streamTokens = createStreamTokens(options.streamTokenSecret, Date.now);
  return {
    database,
    limits: createLimits({ ...toBounds(options.bounds), memoryBytes: isolateBytes, hasTurns: false }),
    broker,
    ...createPublisher(broker),
    streams: createObjectStreams(streams, shardsPerTenant),
    authenticator: createAuthenticator({
      // There is no development key at the edge: without an issuer only API keys are accepted.
      jwtVerifier: auth === undefined ? null : await createIssuerVerifier(auth, log),
      streamTokens,
      findApiKey: (hash) => findApiKey(database, hash),
    }),
    streamTokens,
    signIn: signIn === null ? null : createSignIn(signIn, log),
    // As with publishing: a pending ping belongs to one request.
    readiness: {
      isDraining: () => false,
      check: () =>
        createReadiness({
          pingDatabase: () => ping(database),
          pingBroker: () => options.broker.open().ping(),
        })(),
    },
    webAssets: { read: (path) => readAsset(assets, path) },
    createOpenApi: () => () => readOpenApi(assets),
    demoSession: null,
    corsOrigins: options.corsOrigins ?? [],
    log,
    // Cloudflare counts requests by itself, and an isolate cannot be scraped.
    metrics: noMetrics,
    metricsText: null,
    peerAddress: () => null,
    // Cloudflare sets it, also if a client sends one: https://developers.cloudflare.com/fundamentals/reference/http-headers/
    addressOf: (request) => clientAddress(request.headers, request.headers.get("cf-connecting-ip"), 0),
    onClosed: (_env, release) => release(),
  };
}

/**
 * Sends the events that a request publishes in one turn together, in order. No broker outlives the turn: one that was shared would
 * send one request's message with the fetch of another.
 */
function createRequestBroker({ broker: adapter }: WorkerOptions): MessagePublisher {
  let broker: MessagePublisher | null = null;
  return {
    publish(channel, message) {
      if (broker === null) {
        broker = adapter.open();
        queueMicrotask(() => (broker = null));
      }
      return broker.publish(channel, message);
    },
  };
}

/** The document as `tools/build_worker.ts` has written it: what makes it is a tenth of the bundle that it stays out of. */
async function readOpenApi(assets: Fetcher | undefined): Promise<string> {
  const document = await readAsset(assets, "docs/openapi.json");
  if (document === null) throw new NotFound("This deployment has no OpenAPI document");
  return new TextDecoder().decode(document);
}

/** Reads a file of the live page, or the document, as deployed with the Worker. Returns null for a file that was not. */
async function readAsset(assets: Fetcher | undefined, path: string): Promise<Uint8Array<ArrayBuffer> | null> {
  const response = await assets?.fetch(new Request(new URL(path, "https://assets.internal/")));
  if (response?.status === 200) return new Uint8Array(await response.arrayBuffer());
  await response?.body?.cancel();
  return null;
}
