import { createUpstashBroker } from "../../../shared/brokers/upstash.ts";
import type { MessagePublisher } from "../../../shared/broker.ts";
import { createPublisher } from "../../../shared/send_event.ts";
import { findApiKey } from "../../../drizzle/across_tenants.ts";
import { ping } from "../../../drizzle/transactions.ts";
import { createAuthenticator } from "../../auth/authenticate.ts";
import { boundsFor, Budget, maxLargeReads } from "../../http/budget.ts";
import type { Dependencies } from "../../http/dependencies.ts";
import type { Readiness } from "../../observability/readiness.ts";
import type { Metrics } from "../../observability/metrics.ts";
import { createReadiness } from "../../observability/readiness.ts";
import { noStreamMetrics } from "../../observability/stream_metrics.ts";
import { networkOf } from "../../auth/client_address.ts";
import { createSignIn } from "../../auth/sign_in.ts";
import { createStreamTokens } from "../../auth/stream_tokens.ts";
import { createIssuerVerifier } from "../issuer_verifier.ts";
import { createAssetFiles, readOpenApi } from "./asset_files.ts";
import type { WorkerEnvironment } from "./bindings.ts";
import { createLog } from "../../observability/log.ts";
import { createNeonDatabase } from "../../../drizzle/databases/neon.ts";
import { createObjectStreams } from "./object_streams.ts";
import { PolledTurns } from "./polled_turns.ts";
import { parseWorkerConfig, type WorkerConfig } from "./worker_config.ts";

/**
 * What a Worker needs besides its objects. Every part serves any number of requests and keeps nothing open between them:
 * each request has its own I/O. Rejects with `UsageError`.
 */
export async function openWorkerParts(environment: WorkerEnvironment): Promise<Dependencies> {
  const config = parseWorkerConfig(environment);
  const { gateway, shardsPerTenant } = config;
  const nowMs = Date.now;
  const largeReads = new PolledTurns(maxLargeReads, nowMs);
  const database = createNeonDatabase(config.databaseUrl, { endpoint: config.databaseHttpUrl ?? undefined });
  const broker = createRequestBroker(config);
  const streamTokens = createStreamTokens(config.streamTokenSecret, nowMs);
  return {
    database,
    // Part of an isolate's 128 MiB.
    budget: new Budget({ ...boundsFor(128 * 1_048_576), largeReads }),
    broker,
    ...createPublisher(broker),
    streams: createObjectStreams({ objects: environment.STREAMS, shardsPerTenant }),
    authenticator: createAuthenticator({
      // There is no development key at the edge: without an issuer only API keys are accepted.
      jwtVerifier: gateway.auth.kind === "local" ? null : await createIssuerVerifier(gateway.auth),
      streamTokens,
      findApiKey: (hash) => findApiKey(database, hash),
    }),
    streamTokens,
    signIn: gateway.signIn === null ? null : createSignIn(gateway.signIn, nowMs),
    readiness: createRequestReadiness(config, () => ping(database)),
    webAssets: createAssetFiles(environment.ASSETS),
    createOpenApi: () => () => readOpenApi(environment.ASSETS),
    demoSession: null,
    corsOrigins: gateway.corsOrigins,
    log: createLog({ level: gateway.logLevel }),
    metrics: noMetrics,
    metricsText: null,
    peerAddress: () => null,
    // Cloudflare sets it, also if a client sends one: https://developers.cloudflare.com/fundamentals/reference/http-headers/
    holderOf: (request) => `address:${networkOf(request.headers.get("cf-connecting-ip") ?? "")}`,
    nowMs,
    retentionDays: gateway.retentionDays,
    historyDays: gateway.historyDays,
  };
}

/**
 * What a request publishes in one turn goes out together, in its order. No broker outlives the turn: one that was shared would
 * send one request's message with the fetch of another.
 */
function createRequestBroker({ upstash }: WorkerConfig): MessagePublisher {
  let broker: MessagePublisher | null = null;
  return {
    publish(channel, message) {
      if (broker === null) {
        broker = createUpstashBroker(upstash);
        queueMicrotask(() => (broker = null));
      }
      return broker.publish(channel, message);
    },
  };
}

/** As with publishing: a pending ping belongs to one request. */
function createRequestReadiness({ upstash }: WorkerConfig, pingDatabase: () => Promise<void>): Readiness {
  return {
    check: () =>
      createReadiness({
        pingDatabase,
        pingBroker: () => createUpstashBroker(upstash).ping(),
        isDraining: () => false,
      }).check(),
  };
}

/** Cloudflare counts requests by itself, and an isolate cannot be scraped. */
const noMetrics: Metrics = {
  streams: noStreamMetrics,
  requestAnswered() {},
  eventsPublished() {},
};
