import { createUpstashBroker } from "../../../shared/brokers/upstash.ts";
import { createAuthorityCheck } from "../../auth/membership.ts";
import { eventStreamsOf, features } from "../../features/features.ts";
import { findEventStream, type StreamOpener } from "../../streaming/event_stream.ts";
import { createLocalStreams } from "../../streaming/local_streams.ts";
import { ChannelManager, createRecheck } from "../../streaming/channel_manager.ts";
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
 * It stores nothing and sets no alarm. Once the last stream has left, its subscription has lingered and its connections to the
 * database were idle for 10 s, no timer is left, and the runtime may evict it.
 */
export class StreamsObject {
  readonly #environment: WorkerEnvironment;
  #opener: StreamOpener | null = null;

  constructor(_state: unknown, environment: WorkerEnvironment) {
    this.#environment = environment;
  }

  /** Authorizes and opens the stream that the Worker names. Never rejects: every refusal is a problem document. */
  async fetch(request: Request): Promise<Response> {
    try {
      const { principal, streamName, hasSnapshot } = parseHandOver(request);
      const stream = findEventStream(eventStreams, new URL(streamName, request.url));
      if (stream === null) throw new TypeError("Cannot open a stream: the Worker has named none");
      this.#opener ??= createOpener(this.#environment);
      return await this.#opener.open({ stream, principal, hasSnapshot, request });
    } catch (error) {
      const refusal = problemResponse(error);
      if (refusal.status === 500) log.error({ error }, "a stream could not be opened");
      return refusal;
    }
  }
}

function createOpener(environment: WorkerEnvironment): StreamOpener {
  const config = parseWorkerConfig(environment);
  const database = createNeonPoolDatabase(config.databaseUrl, { endpoint: config.databaseHttpUrl ?? undefined });
  const streams = createLocalStreams({
    subscriber: createUpstashBroker(config.upstash),
    authority: createAuthorityCheck(database),
    recheckChannels: createRecheck(eventStreams, database),
    bounds: config.gateway.bounds,
    // Otherwise the runtime compresses, and buffers what it compresses.
    createSink: createReadableStreamSinks({ headers: { "content-encoding": "identity" } }),
    log: createLog({ level: config.gateway.logLevel }),
  });
  return new ChannelManager(streams, database);
}
