import { hash } from "node:crypto";
import process from "node:process";
import { findApiKey } from "../../drizzle/across_tenants.ts";
import { ping } from "../../drizzle/transactions.ts";
import { AppError } from "../../shared/app_error.ts";
import type { Broker } from "../../shared/broker.ts";
import { createPublisher } from "../../shared/send_event.ts";
import type { BrokerAdapter, DatabaseAdapter } from "../gateway_options.ts";
import { createAuthenticator } from "../auth/authenticate.ts";
import { createAuthorityCheck } from "../auth/membership.ts";
import { settingsError, type GatewayConfig } from "../config.ts";
import type { Dependencies, PageDependencies, WebAssets } from "../http/dependencies.ts";
import { methodRefused, problemResponse } from "../http/problem.ts";
import { eventStreamsOf, type Feature } from "../features/features.ts";
import { repeatTasks } from "../features/tasks.ts";
import type { JwtVerifier } from "../auth/jwt.ts";
import { ChannelManager, createRecheck, readStoredOf } from "../streaming/channel_manager.ts";
import { createLocalStreams, type LocalStreams } from "../streaming/local_streams.ts";
import type { Log } from "../observability/log.ts";
import type { MetricsText } from "../observability/metrics.ts";
import { createPrometheusMetrics } from "../observability/prometheus.ts";
import { createReadiness } from "../observability/readiness.ts";
import { createCleanup, type Cleanup } from "./cleanup.ts";
import type { HttpRuntime } from "./http_runtime.ts";
import { createReadableStreamSinks } from "../streaming/sinks/readable_stream_sink.ts";
import { accountOf, Limits } from "../limits.ts";
import { clientAddress } from "../auth/client_address.ts";
import { createSignIn } from "../auth/sign_in.ts";
import { createStreamTokens } from "../auth/stream_tokens.ts";

export interface GatewayPartsOptions extends Pick<
  GatewayConfig,
  "bounds" | "corsOrigins" | "signIn" | "streamTokenSecret" | "trustedProxyHops"
> {
  readonly features: readonly Feature[];
  readonly database: DatabaseAdapter;
  readonly broker: BrokerAdapter;
  /** Null: API keys only. */
  readonly jwtVerifier: JwtVerifier | null;
  readonly log: Log;
  readonly webAssets: WebAssets;
  /** `/metrics` has a port of its own. */
  readonly hasMetricsPort: boolean;
  readonly demoSession: PageDependencies["demoSession"];
  readonly signal: AbortSignal | undefined;
}

/** Everything behind the HTTP server, for the runtimes that are one process: Node and Deno. */
export interface GatewayParts {
  readonly dependencies: Dependencies;
  readonly broker: Broker;
  readonly streams: LocalStreams;
  readonly metricsText: MetricsText;
  readonly isEmbedded: boolean;
  /** From now on its requests come from this server. */
  serveOver(http: HttpRuntime): void;
  /** From now on the gateway is not ready; everything else goes on. */
  announceDrain(): void;
  /** Closes every stream within the given time, with a retry delay, and opens no new one. */
  drain(overMs: number): Promise<void>;
  /** Releases everything. Calling it twice is fine. */
  close(): Promise<void>;
}

/** The handler of `METRICS_PORT`. */
export async function respondMetrics(metricsText: MetricsText, request: Request): Promise<Response> {
  if (new URL(request.url).pathname !== "/metrics") throw new AppError("not_found", "No such path");
  if (!["GET", "HEAD"].includes(request.method)) {
    return problemResponse(methodRefused(request.method, ["GET", "HEAD"]));
  }
  const { body, contentType } = await metricsText.read();
  return new Response(body, { headers: { "content-type": contentType } });
}

/** Opens everything or nothing. Rejects with `UsageError` when what is configured is not there. */
export async function openGatewayParts(options: GatewayPartsOptions): Promise<GatewayParts> {
  const owned = createCleanup();
  try {
    return await openParts(options, owned);
  } catch (error) {
    await owned.run();
    throw error;
  }
}

async function openParts(options: GatewayPartsOptions, owned: Cleanup): Promise<GatewayParts> {
  const { features, bounds, log } = options;
  const nowMs = Date.now;
  const limits = new Limits({ ...bounds, memoryBytes: availableMemory() });
  const opened = await options.database.open({ features, signal: options.signal });
  owned.defer(() => opened.close());
  const database = limits.limitDatabase(opened);
  const broker = await options.broker.open();
  owned.defer(() => broker.close());
  const { sendEvent } = createPublisher(broker);
  // Without a server, as in a test, a stream is the body of its response, and nobody knows an address.
  let http: Pick<HttpRuntime, "createSink" | "peerAddress" | "onClosed"> = {
    createSink: createReadableStreamSinks(),
    peerAddress: () => null,
    onClosed: (_env, release) => release(),
  };
  const peerAddress = (env: unknown) => http.peerAddress(env);

  let isDraining = false;
  const readiness = createReadiness({
    pingDatabase: () => ping(database),
    pingBroker: () => broker.ping(),
    isDraining: () => isDraining,
    log,
  });
  const metrics = createPrometheusMetrics({
    openStreams: () => streams.stats().members,
    openChannels: () => streams.stats().channels,
    maxStreams: bounds.maxStreams,
    isDatabaseUp: () => readiness.isDatabaseUp(),
    isBrokerUp: () => readiness.isBrokerUp(),
  });
  const streams = createLocalStreams({
    subscriber: broker,
    authority: createAuthorityCheck(database),
    recheckChannels: createRecheck(eventStreamsOf(features), database, log),
    readStored: readStoredOf(database),
    bounds,
    limits,
    metrics: metrics.streams,
    log,
    createSink: (stream, owner) => http.createSink(stream, owner),
  });
  const streamTokens = createStreamTokens(await requireSecret(options), nowMs);
  const authenticator = createAuthenticator({
    jwtVerifier: options.jwtVerifier,
    streamTokens,
    findApiKey: (hash, request) => findApiKey(database, hash, accountOf(request).holder),
    hashKey: (apiKey) => hash("sha256", apiKey, "hex"),
  });
  const dependencies: Dependencies = {
    database,
    limits,
    broker,
    sendEvent,
    streams: new ChannelManager(streams, database),
    authenticator,
    streamTokens,
    signIn: options.signIn === null ? null : createSignIn(options.signIn, nowMs),
    readiness,
    webAssets: options.webAssets,
    createOpenApi,
    demoSession: options.demoSession,
    corsOrigins: options.corsOrigins,
    log,
    metrics,
    metricsText: options.hasMetricsPort ? null : metrics,
    peerAddress,
    addressOf: (request, env) => clientAddress(request.headers, peerAddress(env), options.trustedProxyHops ?? 0),
    onClosed: (env, release) => http.onClosed(env, release),
    nowMs,
  };
  owned.defer(repeatTasks(features, dependencies));

  return {
    dependencies,
    broker,
    streams,
    metricsText: metrics,
    isEmbedded: options.database.embedded !== undefined,
    serveOver(given) {
      http = given;
    },
    announceDrain() {
      isDraining = true;
    },
    async drain(overMs) {
      isDraining = true;
      await streams.drain({ overMs });
    },
    close: () => owned.run(),
  };
}

async function requireSecret({ streamTokenSecret, database }: GatewayPartsOptions): Promise<string> {
  const secret = streamTokenSecret ?? (await database.embedded?.streamTokenSecret());
  if (secret !== undefined) return secret;
  throw settingsError(["streamTokenSecret: required with this database: expected 32 random bytes or more"]);
}

/** Made when it is first requested: a start does not wait for it. */
const createOpenApi: Dependencies["createOpenApi"] = (app, tags) => {
  const build = async () => (await import("../description/describe_api.ts")).describeApi(app, tags);
  let document: ReturnType<typeof build> | null = null;
  return () => (document ??= build());
};

/** Returns the container's memory, where one bounds it. */
function availableMemory(): number | undefined {
  const bytes = process.constrainedMemory();
  return bytes > 0 && bytes < 2 ** 50 ? bytes : undefined;
}
