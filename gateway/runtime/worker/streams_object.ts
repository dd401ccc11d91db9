import { createUpstashBroker } from "../../../shared/brokers/upstash.ts";
import type { Database } from "../../../drizzle/database.ts";
import { createAuthorityCheck } from "../../auth/membership.ts";
import { eventStreamsOf, features } from "../../features/features.ts";
import { findEnded } from "../../features/find_ended.ts";
import { findEventStream } from "../../streaming/find_event_stream.ts";
import { createLocalStreams, type LocalStreams } from "../../streaming/local_streams.ts";
import { readSnapshot } from "../../streaming/requested_stream.ts";
import { problemResponse } from "../../http/problem.ts";
import { createReadableStreamSinks } from "../../streaming/sinks/readable_stream_sink.ts";
import { createLog } from "../../observability/log.ts";
import type { WorkerEnvironment } from "./bindings.ts";
import { parseHandOver } from "./hand_over.ts";
import { createNeonPoolDatabase } from "../../../drizzle/databases/neon.ts";
import { parseWorkerConfig } from "./worker_config.ts";

const log = createLog();
const eventStreams = eventStreamsOf(features);

/**
 * A Durable Object: the streams of one tenant (or one shard of it), with one subscription at the broker for each channel.
 * Everything in it is one I/O context, so what one request opened serves the next.
 *
 * It stores nothing and sets no alarm. Once the last stream has left and its subscription has lingered, no timer and no
 * connection is left, and the runtime may evict it.
 */
export class StreamsObject {
  readonly #environment: WorkerEnvironment;
  #opened: OpenedStreams | null = null;

  constructor(_state: unknown, environment: WorkerEnvironment) {
    this.#environment = environment;
  }

  /** Opens what the Worker has decided. Never rejects: every refusal is a problem document. */
  async fetch(request: Request): Promise<Response> {
    try {
      const { snapshotOf, ...handOver } = parseHandOver(request);
      this.#opened ??= openStreams(this.#environment);
      const { streams, database } = this.#opened;
      if (snapshotOf === null) return await streams.open({ ...handOver, request });
      const stream = findEventStream(eventStreams, new URL(snapshotOf, request.url));
      if (stream === null) throw new TypeError("Cannot open a stream: the Worker has named none");
      const read = () => readSnapshot(stream, handOver.principal, database);
      return await streams.open({ ...handOver, request, snapshot: { streamName: snapshotOf, read } });
    } catch (error) {
      const refusal = problemResponse(error);
      if (refusal.status === 500) log.error({ error }, "a stream could not be opened");
      return refusal;
    }
  }
}

interface OpenedStreams {
  readonly streams: LocalStreams;
  readonly database: Database;
}

function openStreams(environment: WorkerEnvironment): OpenedStreams {
  const config = parseWorkerConfig(environment);
  const database = createNeonPoolDatabase(config.databaseUrl, { endpoint: config.databaseHttpUrl ?? undefined });
  const streams = createLocalStreams({
    subscriber: createUpstashBroker(config.upstash),
    authority: createAuthorityCheck(database),
    findEnded: (tenantId, channels) => findEnded(database, tenantId, channels),
    bounds: config.gateway.bounds,
    // Otherwise the runtime compresses, and buffers what it compresses.
    createSink: createReadableStreamSinks({ headers: { "content-encoding": "identity" } }),
    log,
  });
  return { streams, database };
}
