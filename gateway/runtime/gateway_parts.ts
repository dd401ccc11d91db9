import { hash } from "node:crypto";
import process from "node:process";
import { createLocalJWKSet } from "jose";
import type { Database } from "../../drizzle/database.ts";
import { findApiKey } from "../../drizzle/across_tenants.ts";
import { ping } from "../../drizzle/transactions.ts";
import { AppError } from "../../shared/app_error.ts";
import type { Broker } from "../../shared/broker.ts";
import type { BrokerConfig } from "../../shared/brokers/broker_config.ts";
import { withTimeout } from "../../shared/with_timeout.ts";
import { createPublisher } from "../../shared/send_event.ts";
import { openBroker } from "../../shared/brokers/open_broker.ts";
import type { AdminContext } from "../operator/operations.ts";
import { KnownCallers } from "../auth/known_callers.ts";
import { createAuthenticator } from "../auth/authenticate.ts";
import { createAuthorityCheck } from "../auth/membership.ts";
import { settingsError, type GatewayConfig } from "../config.ts";
import type { DemoDependencies } from "../http/demo_routes.ts";
import type { Dependencies, WebAssets } from "../http/dependencies.ts";
import { methodNotAllowed, problemResponse } from "../http/problem.ts";
import type { CreateOpenApi } from "../description/described.ts";
import { eventStreamsOf, features } from "../features/features.ts";
import { startMarkingStale } from "../features/monitors/mark_stale.ts";
import { startDeletingByAge } from "../features/retention.ts";
import { startExpiring } from "../features/scans/expire_scans.ts";
import { createJwtVerifier, type JwtVerifier } from "../auth/jwt.ts";
import { ChannelManager, createRecheck } from "../streaming/channel_manager.ts";
import { createLocalStreams, type LocalStreams } from "../streaming/local_streams.ts";
import {
  developmentAudience,
  developmentIssuer,
  createLocalState,
  stateDirectory,
  type LocalState,
} from "../operator/local_state.ts";
import type { Log } from "../observability/log.ts";
import type { MetricsText } from "../observability/metrics.ts";
import { createPrometheusMetrics } from "../observability/prometheus.ts";
import { createReadiness } from "../observability/readiness.ts";
import { createCleanup, type Cleanup } from "./cleanup.ts";
import { createIssuerVerifier } from "./issuer_verifier.ts";
import type { CreateSink } from "../streaming/sinks/sink.ts";
import { accountOf, boundsFor, Budget } from "../http/budget.ts";
import { clientAddress } from "../auth/client_address.ts";
import { createSignIn } from "../auth/sign_in.ts";
import { createStreamTokens } from "../auth/stream_tokens.ts";
import { openDatabase, toAdminContext } from "./open_database.ts";

export interface GatewayPartsOptions {
  readonly config: GatewayConfig;
  readonly log: Log;
  readonly webAssets: WebAssets;
  readonly peerAddress: (env: unknown) => string | null;
  /** Where the embedded database, the development key and the generated secret are kept. Default `.scanstream`. */
  readonly directory?: string;
  /** Used instead of the one that `config` names, and closed with the rest. */
  readonly database?: Database;
  /** Used instead of the one that `config` names, and closed with the rest. */
  readonly broker?: Broker;
  /** Default: for the memory that this process has. */
  readonly budget?: Budget;
  readonly createSink?: CreateSink;
  readonly demoSession?: DemoDependencies["demoSession"];
  /** Stops waiting for a database that is unavailable. */
  readonly signal?: AbortSignal;
}

/** Everything behind the HTTP server, for the runtimes that are one process: Node and Deno. */
export interface GatewayParts {
  readonly dependencies: Dependencies;
  readonly broker: Broker;
  readonly streams: LocalStreams;
  readonly metricsText: MetricsText;
  readonly admin: AdminContext;
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
    return problemResponse(methodNotAllowed(request.method, ["GET", "HEAD"]));
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
  const { config, log } = options;
  const nowMs = Date.now;
  const state = createLocalState(options.directory ?? stateDirectory);
  const database = options.database ?? (await openDatabase(config, { state, owned, signal: options.signal }));
  owned.defer(() => database.close());
  const broker = options.broker ?? (await openBroker(config.broker));
  owned.defer(() => broker.close());
  if (options.broker === undefined) await requireRedisDatabase(broker, config.broker);
  const { sendEvent } = createPublisher(broker);
  const admin = toAdminContext(config, state, database);
  if (config.databaseUrl !== null && config.metricsPort === null) {
    log.warn({}, "METRICS_PORT is unset: a proxy on this machine that adds no X-Forwarded-For makes /metrics public");
  }

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
    maxStreams: config.bounds.maxStreams,
    isDatabaseUp: () => readiness.isDatabaseUp(),
    isBrokerUp: () => readiness.isBrokerUp(),
  });
  const streams = createLocalStreams({
    subscriber: broker,
    authority: createAuthorityCheck(database),
    recheckChannels: createRecheck(eventStreamsOf(features), database),
    bounds: config.bounds,
    metrics: metrics.streams,
    log,
    ...(options.createSink === undefined ? {} : { createSink: options.createSink }),
  });
  const secret = config.streamTokenSecret ?? (await state.streamTokenSecret());
  const streamTokens = createStreamTokens(secret, nowMs);
  const digest = (credential: string) => hash("sha256", credential, "base64");
  const callers = new KnownCallers({ digest });
  const authenticator = createAuthenticator({
    jwtVerifier: await openJwtVerifier(config, state),
    streamTokens,
    findApiKey: (hash, request) => findApiKey(database, hash, accountOf(request).holder),
    hashKey: (apiKey) => hash("sha256", apiKey, "hex"),
    learn: (request, tenantId) => callers.learn(request, tenantId),
  });
  owned.defer(startExpiring({ database, sendEvent, log }));
  owned.defer(startMarkingStale({ database, sendEvent, log, nowMs }));
  const { retentionDays, historyDays } = config;
  owned.defer(startDeletingByAge({ database, sendEvent, log, retentionDays, historyDays }));

  return {
    dependencies: {
      database,
      budget: options.budget ?? new Budget(boundsFor(availableMemory())),
      broker,
      sendEvent,
      streams: new ChannelManager(streams, database),
      authenticator,
      streamTokens,
      signIn: config.signIn === null ? null : createSignIn(config.signIn, nowMs),
      readiness,
      webAssets: options.webAssets,
      createOpenApi,
      demoSession: options.demoSession ?? null,
      corsOrigins: config.corsOrigins,
      log,
      metrics,
      metricsText: config.metricsPort === null ? metrics : null,
      peerAddress: options.peerAddress,
      holderOf: (request, env) =>
        callers.holderOf(request, clientAddress(request.headers, options.peerAddress(env), config.trustedProxyHops)),
      nowMs,
      retentionDays,
      historyDays,
    },
    broker,
    streams,
    metricsText: metrics,
    admin,
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

/** How long a start waits for Redis: whatever else is wrong with it may pass, and is said by `/readyz`. */
const startPingMs = 2000;

/** Rejects with `UsageError` for a database that Redis does not have: every stream would be 503 for ever. */
async function requireRedisDatabase(broker: Broker, config: BrokerConfig): Promise<void> {
  if (config.kind !== "redis") return;
  const failure: unknown = await withTimeout(broker.ping(), startPingMs).catch((error: unknown) => error);
  if (!(failure instanceof AppError) || !failure.message.includes("EVENTSTREAM_CACHE_DB")) return;
  throw settingsError([`EVENTSTREAM_CACHE_DB: Redis has no database ${config.databaseNumber}`]);
}

/** Made when it is first requested: a start does not wait for it. */
const createOpenApi: CreateOpenApi = (describe) => {
  const build = async () => (await import("../description/describe_api.ts")).describeApi(describe());
  let document: ReturnType<typeof build> | null = null;
  return () => (document ??= build());
};

/** Returns the container's memory, where one bounds it; else what a gateway needs. */
function availableMemory(): number {
  const bytes = process.constrainedMemory();
  return bytes > 0 && bytes < 2 ** 50 ? bytes : defaultMemoryBytes;
}

const defaultMemoryBytes = 1024 * 1_048_576;

async function openJwtVerifier({ auth }: GatewayConfig, state: LocalState): Promise<JwtVerifier> {
  if (auth.kind !== "local") return createIssuerVerifier(auth);
  const { publicJwk } = await state.developmentKey();
  return createJwtVerifier({
    keys: createLocalJWKSet({ keys: [publicJwk] }),
    issuer: developmentIssuer,
    audience: developmentAudience,
    tenantClaim: auth.tenantClaim,
    nowMs: Date.now,
  });
}
