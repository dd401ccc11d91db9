import { hash } from "node:crypto";
import process from "node:process";
import { findApiKey } from "../drizzle/across_tenants.ts";
import { ping } from "../drizzle/transactions.ts";
import { createPublisher } from "../shared/send_event.ts";
import { createApp } from "./app.ts";
import { createAuthenticator } from "./auth/authenticate.ts";
import { clientAddress } from "./auth/client_address.ts";
import { createIssuerVerifier } from "./auth/jwt.ts";
import { createSignIn } from "./auth/sign_in.ts";
import { createStreamTokens } from "./auth/stream_tokens.ts";
import { settingsError, toBounds, type SignInConfig } from "./config.ts";
import { eventStreamsOf } from "./features/features.ts";
import { repeatTasks, runTasks } from "./features/tasks.ts";
import type { Gateway, GatewayOptions } from "./gateway_options.ts";
import type { Dependencies } from "./http/dependencies.ts";
import { accountOf, Limits } from "./limits.ts";
import { createLog } from "./observability/log.ts";
import { createPrometheusMetrics } from "./observability/prometheus.ts";
import { createReadiness } from "./observability/readiness.ts";
import type { HttpRuntime } from "./runtime/http_runtime.ts";
import { ChannelManager } from "./streaming/channel_manager.ts";
import { createReadableStreamSinks } from "./streaming/sinks/readable_stream_sink.ts";

/** More than a gateway of one's own needs. */
export interface ProductOptions extends Partial<Pick<Dependencies, "demoSession" | "webAssets">> {
  readonly signIn?: SignInConfig | null;
  /** `/metrics` is on `METRICS_PORT`, not on the gateway's port. */
  readonly hasMetricsPort?: boolean;
  /** Stops waiting for a database that is unavailable. */
  readonly signal?: AbortSignal;
}

/** The gateway of one process, on Node or Deno, with what its server needs of it. */
export type ProcessGateway = Awaited<ReturnType<typeof open>>;

/**
 * Opens the gateway on Node or Deno: the routes and event streams of its features, publishing over HTTP, stream tokens, status. Keeps
 * nothing global and listens to no signal. Rejects with `UsageError` for what is missing, and with `TypeError` for features that do
 * not fit together.
 */
export async function createGateway(options: GatewayOptions & ProductOptions): Promise<ProcessGateway> {
  const opened: Opened = [];
  try {
    return await open(options, opened);
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

/** How to close each thing that was opened, in the order of opening. */
type Opened = (() => Promise<void> | void)[];

/** Closes everything once, also when one of them fails; rejects with the first failure. */
async function closeAll(opened: Opened): Promise<void> {
  const failures: unknown[] = [];
  for (const close of opened.splice(0).toReversed()) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function open(options: GatewayOptions & ProductOptions, opened: Opened) {
  const { features, auth, signIn = null, corsOrigins = [], log = createLog(), signal } = options;
  const nowMs = Date.now;
  const bounds = toBounds(options.bounds);
  const limits = new Limits({ ...bounds, memoryBytes: availableMemory() });
  const ownDatabase = await options.database.open({ features, signal });
  opened.push(() => ownDatabase.close());
  const database = limits.limitDatabase(ownDatabase);
  const broker = await options.broker.open();
  opened.push(() => broker.close());
  // Without a server, as in a test, a stream is the body of its response, and nobody knows an address.
  let http: Pick<HttpRuntime, "createSink" | "peerAddress" | "onClosed"> = {
    createSink: createReadableStreamSinks(),
    peerAddress: () => null,
    onClosed: (_env, release) => release(),
  };
  const peerAddress = (env: unknown) => http.peerAddress(env);

  let isDraining = false;
  const pings = { pingDatabase: () => ping(database), pingBroker: () => broker.ping() };
  const readiness = { isDraining: () => isDraining, ...createReadiness({ ...pings, log }) };
  const metrics = createPrometheusMetrics({
    openStreams: () => manager.streams.stats().members,
    openChannels: () => manager.streams.stats().channels,
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
  const streamTokens = createStreamTokens(await requireSecret(options), nowMs);
  const dependencies = {
    database,
    limits,
    broker,
    ...createPublisher(broker),
    streams: manager,
    authenticator: createAuthenticator({
      jwtVerifier: auth === undefined ? null : await createIssuerVerifier(auth),
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
    nowMs,
  } satisfies Dependencies;
  const app = createApp(dependencies, features);
  opened.push(repeatTasks(features, dependencies));

  const gateway: Gateway = {
    fetch: async (request, env = {}) => app.fetch(request, env),
    scheduled: () => runTasks(features, dependencies),
    async close() {
      await drain(0);
      await closeAll(opened);
    },
  };
  return {
    ...gateway,
    dependencies,
    isEmbedded: options.database.embedded !== undefined,
    /** The text of `/metrics`, on whichever port it is. */
    metricsText: metrics,
    /** From now on its requests come from this server. */
    serveOver(given: HttpRuntime): void {
      http = given;
    },
    /** Reports the gateway as not ready from now on; everything else continues. */
    announceDrain(): void {
      isDraining = true;
    },
    drain,
  };

  /** Closes every stream within the given time, with a retry delay, and opens no new one. */
  async function drain(overMs: number): Promise<void> {
    isDraining = true;
    await manager.streams.drain({ overMs });
  }
}

async function requireSecret({ streamTokenSecret, database }: GatewayOptions): Promise<string> {
  const secret = streamTokenSecret ?? (await database.embedded?.streamTokenSecret());
  if (secret !== undefined) return secret;
  throw settingsError(["streamTokenSecret: required with this database: expected 32 random bytes or more"]);
}

/** Made when it is first requested: a start does not wait for it. */
const createOpenApi: Dependencies["createOpenApi"] = (app, tags) => {
  const build = async () => (await import("./description/describe_api.ts")).describeApi(app, tags);
  let document: ReturnType<typeof build> | null = null;
  return () => (document ??= build());
};

/** Returns the container's memory, where one bounds it. */
function availableMemory(): number | undefined {
  const bytes = process.constrainedMemory();
  return bytes > 0 && bytes < 2 ** 50 ? bytes : undefined;
}
