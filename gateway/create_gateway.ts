import { hash } from "node:crypto";
import process from "node:process";
import { findApiKey } from "../drizzle/across_tenants.ts";
import { ping } from "../drizzle/transactions.ts";
import { pause } from "../shared/abortable.ts";
import { AppError } from "../shared/app_error.ts";
import type { Broker } from "../shared/broker.ts";
import { isRefusal } from "../shared/brokers/unavailable.ts";
import { createPublisher } from "../shared/send_event.ts";
import { createApp } from "./app.ts";
import { createAuthenticator } from "./auth/authenticate.ts";
import { clientAddress } from "./auth/client_address.ts";
import { createIssuerVerifier } from "./auth/jwt.ts";
import { createSignIn } from "./auth/sign_in.ts";
import { createStreamTokens } from "./auth/stream_tokens.ts";
import { settingsError } from "../shared/usage_error.ts";
import { withTimeout } from "../shared/with_timeout.ts";
import { toBounds, type SignInConfig } from "./config.ts";
import { eventStreamsOf, repeatTasks, runTasks } from "./features/features.ts";
import type { Gateway, GatewayOptions, OpenContext } from "./gateway_options.ts";
import type { Dependencies } from "./http/dependencies.ts";
import { methodRefused } from "./http/problem.ts";
import { accountOf, createLimits } from "./limits.ts";
import { createLog } from "./observability/log.ts";
import type { MetricsText } from "./observability/metrics.ts";
import { createPrometheusMetrics } from "./observability/prometheus.ts";
import { createReadiness } from "./observability/readiness.ts";
import { createFirstKey } from "./operator/operations.ts";
import type { HttpRuntime, HttpServer, ListenAddress } from "./runtime/http_runtime.ts";
import { ChannelManager } from "./streaming/channel_manager.ts";
import { createReadableStreamSinks } from "./streaming/sinks/readable_stream_sink.ts";

/** More than a gateway of one's own needs. */
export interface ProductOptions
  extends Partial<Pick<Dependencies, "demoSession" | "webAssets">>, Pick<OpenContext, "signal"> {
  readonly signIn?: SignInConfig | null;
  /** `/metrics` is on `METRICS_PORT`, not on the gateway's port. */
  readonly hasMetricsPort?: boolean;
}

interface ServeOptions extends Omit<ListenAddress, "isForClients"> {
  /** A port for `/metrics` alone; null: none. */
  readonly metricsPort: number | null;
}

/** How long a start waits for the broker. */
const startPingMs = 2000;
/** How long the closing of streams is spread. */
const defaultDrainMs = 3000;
/** After the last stream was closed: for its last bytes, and for requests that are still being answered. */
const answerGraceMs = 1500;

/** The gateway of one process, on Node or Deno, with what its server needs of it. */
export type ProcessGateway = Awaited<ReturnType<typeof createGateway>>;

/** As `createGateway` of the library, which hands it on; for the product and for a server. */
export async function createGateway(options: GatewayOptions & ProductOptions) {
  const opened: Opened = [];
  try {
    return await open(options, opened);
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

/** How to close each thing that was opened. */
type Opened = (() => unknown)[];

/** Closes everything once, the last first: tasks need the broker and the database. Also when one fails, and rejects as that does. */
async function closeAll(opened: Opened): Promise<void> {
  const left = opened.splice(0);
  const close = left.pop();
  if (close === undefined) return;
  try {
    await close();
  } finally {
    await closeAll(left);
  }
}

async function open(options: GatewayOptions & ProductOptions, opened: Opened) {
  const { features, auth, signIn = null, corsOrigins = [], log = createLog(), signal } = options;
  const bounds = toBounds(options.bounds);
  const limits = createLimits({ ...bounds, memoryBytes: availableMemory() });
  const ownDatabase = await options.database.open({ features, signal });
  opened.push(() => ownDatabase.close());
  const database = limits.limitDatabase(ownDatabase);
  const broker = await options.broker.open();
  opened.push(() => broker.close());
  await requireAccepted(broker);
  // Without a server, as in a test, a stream is the body of its response, and nobody knows an address.
  let http: Pick<HttpRuntime, "createSink" | "peerAddress" | "onClosed" | "endsIdle"> = {
    createSink: createReadableStreamSinks(),
    peerAddress: () => null,
    onClosed: (_env, release) => release(),
  };
  const peerAddress = (env: unknown) => http.peerAddress(env);

  let isDraining = false;
  // A probe waits for no tenant's turn: a busy gateway is ready.
  const pings = { pingDatabase: () => ping(ownDatabase), pingBroker: () => broker.ping() };
  const readiness = { isDraining: () => isDraining, check: createReadiness({ ...pings, log }) };
  const metrics = createPrometheusMetrics({
    streams: () => manager.streams.stats(),
    maxStreams: bounds.maxStreams,
    readiness,
  });
  const manager = new ChannelManager({
    subscriber: broker,
    database,
    eventStreams: eventStreamsOf(features),
    bounds,
    limits,
    count: metrics.count,
    log,
    createSink: (stream, owner) => http.createSink(stream, owner),
  });
  const streamTokens = createStreamTokens(await requireSecret(options), Date.now);
  const dependencies = {
    database,
    limits,
    broker,
    ...createPublisher(broker),
    streams: manager,
    authenticator: createAuthenticator({
      jwtVerifier: auth === undefined ? null : await createIssuerVerifier(auth, log),
      streamTokens,
      findApiKey: (hash, request) => findApiKey(database, hash, accountOf(request).holder),
      hashKey: (apiKey) => hash("sha256", apiKey, "hex"),
    }),
    streamTokens,
    signIn: signIn === null ? null : createSignIn(signIn, log),
    readiness,
    webAssets: options.webAssets ?? { read: async () => null },
    createOpenApi,
    demoSession: options.demoSession ?? null,
    corsOrigins,
    log,
    metrics,
    metricsText: options.hasMetricsPort === true ? null : metrics,
    peerAddress,
    addressOf: (request, env) => clientAddress(request.headers, peerAddress(env), options.trustedProxyHops ?? 0),
    onClosed: (env, release) => http.onClosed(env, release),
  } satisfies Dependencies;
  const app = createApp(dependencies, features);
  opened.push(repeatTasks(features, dependencies));

  const gateway: Gateway = {
    async fetch(request, env = {}) {
      const response = await app.fetch(request, env);
      if (!isDraining || http.endsIdle !== true) return response;
      // The headers of an answer of the global `fetch` cannot be changed.
      const last = new Response(response.body, response);
      last.headers.set("connection", "close");
      return last;
    },
    scheduled: () => runTasks(features, dependencies),
    async close() {
      await drain(0);
      await closeAll(opened);
    },
  };
  return {
    ...gateway,
    dependencies,
    /** The first API key of an embedded database without a tenant, to be shown this once; else null. */
    firstKey: async () => (options.database.embedded === undefined ? null : createFirstKey({ database })),
    /** Reports the gateway as not ready from now on; everything else continues. */
    announceDrain: () => void (isDraining = true),
    serve,
  };

  /** Gives the gateway its ports. Rejects with `UsageError` for an address that cannot be listened on; then the gateway is closed. */
  async function serve(runtime: HttpRuntime, { host, port, metricsPort, names }: ServeOptions) {
    http = runtime;
    const servers: HttpServer[] = [];
    let stopping: Promise<void> | null = null;
    try {
      const app = await runtime.serve(gateway.fetch, { host, port, names, isForClients: true });
      servers.push(app);
      const metricsNames = { ...names, port: "METRICS_PORT" };
      const metricsAddress = { host, port: metricsPort ?? 0, names: metricsNames, isForClients: false };
      const fetchMetrics = (request: Request) => respondMetrics(metrics, request);
      const metricsServer = metricsPort === null ? null : await runtime.serve(fetchMetrics, metricsAddress);
      if (metricsServer !== null) servers.push(metricsServer);
      return {
        /** Without a slash at its end. */
        url: urlOf(host, app.port),
        /** Address of `/metrics`, when it has its own port. */
        metricsUrl: metricsServer === null ? null : `${urlOf(host, metricsServer.port)}/metrics`,
        /** Closes the port, then the streams one by one over this time, then releases everything. A second call waits for the first. */
        stop({ drainMs = defaultDrainMs }: { readonly drainMs?: number } = {}): Promise<void> {
          stopping ??= stop(servers, drainMs);
          return stopping;
        },
      };
    } catch (error) {
      for (const server of servers) await server.close({ drained: Promise.resolve(), withinMs: 0 });
      await gateway.close();
      throw error;
    }
  }

  async function stop(servers: readonly HttpServer[], drainMs: number): Promise<void> {
    // Connections that a proxy keeps are told to close with their next answer.
    const drained = Promise.all([drain(drainMs), pause(Math.min(drainMs, 1000), [])]);
    await Promise.all(servers.map((server) => server.close({ drained, withinMs: drainMs + answerGraceMs })));
    await gateway.close();
  }

  /** Closes every stream within the given time, with a retry delay, and opens no new one. */
  async function drain(overMs: number): Promise<void> {
    isDraining = true;
    await manager.streams.drain({ overMs });
  }
}

/**
 * Rejects with `UsageError` where the broker refuses the password, or what else is configured: every stream would be 503 until a person
 * corrects it, and an upgrade of one gateway after the other stops at the first. An outage passes, and is said by `/readyz`.
 */
async function requireAccepted(broker: Broker): Promise<void> {
  const subscribed = new AbortController();
  const silent = { onMessage() {}, onLost() {} };
  // A user that may publish may still not subscribe.
  const tried = Promise.all([broker.ping(), broker.subscribe("ping", silent, subscribed.signal)]);
  const failure: unknown = await withTimeout(tried, startPingMs).catch((error: unknown) => error);
  subscribed.abort();
  if (isRefusal(failure)) throw settingsError(failure.message, { cause: failure });
}

async function requireSecret({ streamTokenSecret, database }: GatewayOptions): Promise<string> {
  const secret = streamTokenSecret ?? (await database.embedded?.streamTokenSecret());
  if (secret !== undefined) return secret;
  throw settingsError("streamTokenSecret: required with this database: expected 32 random bytes or more");
}

/** Made when it is first requested: a start does not wait for it. */
const createOpenApi: Dependencies["createOpenApi"] = (app, tags) => {
  const build = async () =>
    JSON.stringify(await (await import("./description/describe_api.ts")).describeApi(app, tags));
  let document: ReturnType<typeof build> | null = null;
  return () => (document ??= build());
};

/** Returns the container's memory, where one bounds it. */
function availableMemory(): number | undefined {
  const bytes = process.constrainedMemory();
  return bytes > 0 && bytes < 2 ** 50 ? bytes : undefined;
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The handler of `METRICS_PORT`. */
async function respondMetrics(metrics: MetricsText, request: Request): Promise<Response> {
  if (new URL(request.url).pathname !== "/metrics") throw new AppError("not_found", "No such path");
  if (!["GET", "HEAD"].includes(request.method)) throw methodRefused(request.method, ["GET", "HEAD"]);
  const { body, contentType } = await metrics.read();
  return new Response(body, { headers: { "content-type": contentType } });
}
