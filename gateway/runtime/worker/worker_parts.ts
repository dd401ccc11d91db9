import type { MessagePublisher } from "../../../shared/broker.ts";
import { createPublisher } from "../../../shared/send_event.ts";
import { findApiKey } from "../../../drizzle/across_tenants.ts";
import { ping } from "../../../drizzle/transactions.ts";
import { createIssuerVerifier } from "../../auth/jwt.ts";
import { createAuthenticator } from "../../auth/authenticate.ts";
import { clientAddress } from "../../auth/client_address.ts";
import { createSignIn } from "../../auth/sign_in.ts";
import { createStreamTokens } from "../../auth/stream_tokens.ts";
import { toBounds } from "../../config.ts";
import { NotFound } from "../../../shared/app_error.ts";
import type { Dependencies, WebAssets } from "../../http/dependencies.ts";
import { Limits } from "../../limits.ts";
import { createLog } from "../../observability/log.ts";
import { noMetrics } from "../../observability/metrics.ts";
import { createReadiness } from "../../observability/readiness.ts";
import { createObjectStreams, isolateBytes } from "./streams_object.ts";
import type { Fetcher, WorkerOptions } from "./worker_options.ts";

/**
 * Opens the parts of a Worker besides its objects. Every part serves any number of requests and keeps nothing open between them:
 * each request has its own I/O. Rejects with `UsageError`.
 */
export async function openWorkerParts(options: WorkerOptions): Promise<Dependencies> {
  const { auth, streams, shardsPerTenant = 1, assets = noAssets, signIn = null, log = createLog() } = options;
  const nowMs = Date.now;
  const database = options.database.openForRequests();
  const broker = createRequestBroker(options);
  const streamTokens = createStreamTokens(options.streamTokenSecret, nowMs);
  return {
    database,
    limits: new Limits({ ...toBounds(options.bounds), memoryBytes: isolateBytes }),
    broker,
    ...createPublisher(broker),
    streams: createObjectStreams(streams, shardsPerTenant),
    authenticator: createAuthenticator({
      // There is no development key at the edge: without an issuer only API keys are accepted.
      jwtVerifier: auth === undefined ? null : await createIssuerVerifier(auth),
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
        }).check(),
    },
    webAssets: createAssetFiles(assets),
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
    onClosed: null,
    nowMs,
  };
}

const noAssets: Fetcher = { fetch: async () => new Response(null, { status: 404 }) };

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

/** The live page's files, from the assets that were deployed with the Worker. */
function createAssetFiles(assets: Fetcher): WebAssets {
  return {
    async read(path) {
      const response = await readAsset(assets, path);
      return response === null ? null : new Uint8Array(await response.arrayBuffer());
    },
  };
}

/** The document as `tools/build_worker.ts` has written it: what makes it is a tenth of the bundle that it stays out of. */
async function readOpenApi(assets: Fetcher): Promise<unknown> {
  const response = await readAsset(assets, "docs/openapi.json");
  if (response === null) throw new NotFound("This deployment has no OpenAPI document");
  return response.json();
}

async function readAsset(assets: Fetcher, path: string): Promise<Response | null> {
  const response = await assets.fetch(new Request(new URL(path, "https://assets.internal/")));
  if (response.status === 200) return response;
  await response.body?.cancel();
  return null;
}
