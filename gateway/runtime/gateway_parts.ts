import { hash } from "node:crypto";
import { createLocalJWKSet } from "jose";
import type { Database } from "../../drizzle/database.ts";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { openPgliteDatabase } from "../../drizzle/databases/pglite.ts";
import { findApiKey, ping } from "../../drizzle/with_tenant.ts";
import { AppError } from "../../shared/app_error.ts";
import type { Broker } from "../../shared/broker.ts";
import type { BrokerConfig } from "../../shared/brokers/broker_config.ts";
import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { adminContext, handleAdminRequests } from "../admin/call_admin.ts";
import type { AdminContext } from "../admin/operations.ts";
import {
  requestStateHolder,
  lockStateDirectory,
  type RequestHandler,
  type StateLock,
} from "../../command_line/state_lock.ts";
import { createAuthenticator } from "../auth/authenticate.ts";
import { createAuthorityCheck } from "../auth/membership.ts";
import { type GatewayConfig, settingsError } from "../config.ts";
import type { DemoDependencies } from "../http/demo_routes.ts";
import type { Dependencies, WebAssets } from "../http/dependencies.ts";
import { createDocs } from "../http/docs/create_docs.ts";
import { findEnded } from "../features/find_ended.ts";
import { startMarkingStale } from "../features/monitors/mark_stale.ts";
import { startExpiring } from "../features/scans/expire_scans.ts";
import { createJwtVerifier, type JwtVerifier } from "../auth/jwt.ts";
import { createLocalStreams, type LocalStreams } from "../streaming/local_streams.ts";
import {
  developmentAudience,
  developmentIssuer,
  createLocalState,
  stateDirectory,
  type LocalState,
} from "../admin/local_state.ts";
import type { Log } from "../observability/log.ts";
import type { MetricsText } from "../observability/metrics.ts";
import { createPrometheusMetrics, type ProcessMetrics } from "../observability/prometheus.ts";
import { createReadiness } from "../observability/readiness.ts";
import { requireMigrated } from "../admin/require_migrated.ts";
import { createCleanup, type Cleanup } from "./cleanup.ts";
import { createIssuerVerifier } from "./issuer_verifier.ts";
import type { CreateSink } from "../streaming/sinks/sink.ts";
import { createSignIn } from "../auth/sign_in.ts";
import { createStreamTokens } from "../auth/stream_tokens.ts";
import { withTokenCache } from "../auth/token_cache.ts";

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
  readonly createSink?: CreateSink;
  readonly demoSession?: DemoDependencies["demoSession"];
  /** `/metrics` of this process and its siblings together. Default: of this process alone. */
  readonly joinMetrics?: (own: ProcessMetrics) => MetricsText;
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
  const { body, contentType } = await metricsText.read();
  return new Response(body, { headers: { "content-type": contentType } });
}

/** A database that starts beside the gateway may take this long. */
const databaseTimeoutMs = 10_000;

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
  const database = options.database ?? (await openDatabase(options, state, owned));
  owned.defer(() => database.close());
  const broker = options.broker ?? (await createBroker(config.broker));
  owned.defer(() => broker.close());
  const admin = toAdminContext(config, state, database);
  if (config.databaseUrl !== null && config.metricsPort === null) {
    log.warn({}, "METRICS_PORT is unset: a proxy on this machine that adds no X-Forwarded-For makes /metrics public");
  }

  let isDraining = false;
  const readiness = createReadiness({
    pingDatabase: () => ping(database),
    pingBroker: () => broker.ping(),
    isDraining: () => isDraining,
  });
  const metrics = createPrometheusMetrics({
    openStreams: () => streams.stats().members,
    openChannels: () => streams.stats().channels,
    isBrokerUp: () => readiness.isBrokerUp(),
  });
  const metricsText = options.joinMetrics?.(metrics) ?? metrics;
  const streams = createLocalStreams({
    subscriber: broker,
    authority: createAuthorityCheck(database),
    findEnded: (tenantId, channels) => findEnded(database, tenantId, channels),
    bounds: config.bounds,
    metrics: metrics.streams,
    log,
    ...(options.createSink === undefined ? {} : { createSink: options.createSink }),
  });
  const streamTokens = createStreamTokens(config.streamTokenSecret ?? (await state.streamTokenSecret()), nowMs);
  const authenticator = createAuthenticator({
    jwtVerifier: withTokenCache(await openJwtVerifier(config, state), {
      digest: (token) => hash("sha256", token, "base64"),
      nowMs,
    }),
    streamTokens,
    findApiKey: (hash) => findApiKey(database, hash),
    findApiKeyForStream: (hash) => streams.lookups.share(`api_key:${hash}`, () => findApiKey(database, hash)),
  });
  owned.defer(startExpiring({ database, publisher: broker, log }));
  owned.defer(startMarkingStale({ database, publisher: broker, log }));

  return {
    dependencies: {
      database,
      publisher: broker,
      streams,
      authenticator,
      streamTokens,
      signIn: config.signIn === null ? null : createSignIn(config.signIn, nowMs),
      readiness,
      webAssets: options.webAssets,
      docs: createDocs(async () => (await import("../features/descriptions.ts")).featureDescriptions),
      demoSession: options.demoSession ?? null,
      corsOrigins: config.corsOrigins,
      log,
      metrics,
      metricsText: config.metricsPort === null ? metricsText : null,
      peerAddress: options.peerAddress,
      nowMs,
    },
    broker,
    streams,
    metricsText,
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

async function openDatabase(
  { config, signal }: GatewayPartsOptions,
  state: LocalState,
  owned: Cleanup,
): Promise<Database> {
  if (config.databaseUrl === null) return openEmbedded(config, state, owned);
  const database = createPgDatabase(config.databaseUrl);
  try {
    await requireMigrated(database, { timeoutMs: databaseTimeoutMs, ...(signal === undefined ? {} : { signal }) });
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** While it is open, the administrative commands of other processes come to us. */
async function openEmbedded(config: GatewayConfig, state: LocalState, owned: Cleanup): Promise<Database> {
  const opened = Promise.withResolvers<AdminContext>();
  // A failure rejects the requests that wait for it; there may be none.
  opened.promise.catch(() => {});
  const lock = await lockEmbedded(state, handleAdminRequests(opened.promise));
  owned.defer(() => lock.release());
  try {
    const database = await openPgliteDatabase({ directory: state.databaseDirectory });
    opened.resolve(toAdminContext(config, state, database));
    return database;
  } catch (cause) {
    opened.reject(cause);
    if (cause instanceof UsageError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw settingsError(
      [
        `DATABASE_URL: unset, and the embedded database in ${state.databaseDirectory} cannot be opened: ` +
          `move that folder away to start afresh (${reason})`,
      ],
      { cause },
    );
  }
}

async function lockEmbedded(state: LocalState, handler: RequestHandler): Promise<StateLock> {
  await state.makeDirectory();
  const deadlineMs = Date.now() + databaseTimeoutMs;
  for (;;) {
    const lock = await lockStateDirectory(state.directory, handler);
    if (lock !== null) return lock;
    const holder = await requestStateHolder(state.directory, {}, databaseTimeoutMs);
    // A command will finish soon; another gateway will not.
    if (isGateway(holder) || Date.now() > deadlineMs) {
      throw settingsError([
        `DATABASE_URL: unset, and the embedded database in ${state.directory} is open in another gateway: ` +
          "stop that one, start in another folder, or name a Postgres database",
      ]);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function isGateway(holder: unknown): boolean {
  return typeof holder === "object" && holder !== null && "holder" in holder && holder.holder === "gateway";
}

function toAdminContext(config: GatewayConfig, state: LocalState, database: Database): AdminContext {
  return adminContext(
    { hasIssuer: config.auth.kind !== "local", tenantClaim: config.auth.tenantClaim },
    state,
    database,
  );
}

/** Loads only the adapter that it opens: the client of Redis is a tenth of a gateway's start and memory. */
async function createBroker(config: BrokerConfig): Promise<Broker> {
  if (config.kind === "memory") return createMemoryBroker();
  const { databaseNumber: database, url } = config;
  try {
    if (config.kind === "redis") {
      return (await import("../../shared/brokers/redis.ts")).createRedisBroker({ url, database });
    }
    return (await import("../../shared/brokers/upstash.ts")).createUpstashBroker({
      url,
      token: config.token,
      database,
    });
  } catch (error) {
    // The adapters check their addresses again, and name the variable.
    if (error instanceof TypeError || error instanceof RangeError) throw settingsError([error.message]);
    throw error;
  }
}

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
