import { parseConfig } from "../../config.ts";
import { eventStreamsOf } from "../../features/features.ts";
import { isUnexpected, problemResponse } from "../../http/problem.ts";
import { Limits } from "../../limits.ts";
import { createLog } from "../../observability/log.ts";
import { ChannelManager } from "../../streaming/channel_manager.ts";
import { findEventStream } from "../../streaming/event_stream.ts";
import { createReadableStreamSinks } from "../../streaming/sinks/readable_stream_sink.ts";
import { parseHandOver } from "./object_streams.ts";
import type { WorkerOptions } from "./worker_options.ts";
import { isolateBytes } from "./worker_parts.ts";

export type StreamsObjectClass<Environment> = new (
  state: unknown,
  environment: Environment,
) => { fetch(request: Request): Promise<Response> };

/**
 * Makes the class of the Durable Objects: each has the streams of one tenant (or one shard of it), with one subscription at the
 * broker for each channel. Everything in one is one I/O context, so what one request opened serves the next.
 *
 * It stores nothing and sets no alarm. Once the last stream has left, its subscription has lingered and its connections to the
 * database were idle for 10 s, no timer is left, and the runtime may evict it.
 */
export function createStreamsObject<Environment>(
  optionsOf: (environment: Environment) => WorkerOptions,
): StreamsObjectClass<Environment> {
  return class StreamsObject {
    readonly #environment: Environment;
    #opened: ReturnType<typeof open> | null = null;

    constructor(_state: unknown, environment: Environment) {
      this.#environment = environment;
    }

    /** Authorizes and opens the stream that the Worker names. Never rejects: every refusal is a problem document. */
    async fetch(request: Request): Promise<Response> {
      try {
        const { principal, streamName, hasSnapshot } = parseHandOver(request);
        const { manager, eventStreams } = (this.#opened ??= open(optionsOf(this.#environment)));
        const stream = findEventStream(eventStreams, new URL(streamName, request.url));
        if (stream === null) throw new TypeError("Cannot open a stream: the Worker has named none");
        return await manager.open({ stream, principal, hasSnapshot, request });
      } catch (error) {
        if (isUnexpected(error)) createLog().error({ error }, "a stream could not be opened");
        return problemResponse(error);
      }
    }
  };
}

function open({ features, bounds: given, log = createLog(), ...adapters }: WorkerOptions) {
  const eventStreams = eventStreamsOf(features);
  const bounds = { ...parseConfig({}).bounds, ...given };
  const manager = new ChannelManager({
    subscriber: adapters.broker.open(),
    database: adapters.database.open(),
    eventStreams,
    bounds,
    // The object is its tenant's own.
    limits: new Limits({ ...bounds, tenantPercent: 100, memoryBytes: isolateBytes }),
    // Otherwise the runtime compresses, and buffers what it compresses.
    createSink: createReadableStreamSinks({ headers: { "content-encoding": "identity" } }),
    log,
  });
  return { eventStreams, manager };
}
