import { AppError, isUnavailable, NotFound } from "../../../shared/app_error.ts";
import { sha256Hex } from "../../auth/sha256.ts";
import { toBounds } from "../../config.ts";
import { eventStreamsOf } from "../../features/features.ts";
import { isUnexpected, problemResponse } from "../../http/problem.ts";
import { whyUnavailable } from "../../http/request_log.ts";
import { createLimits } from "../../limits.ts";
import { createLog } from "../../observability/log.ts";
import { ChannelManager } from "../../streaming/channel_manager.ts";
import { findEventStream, type RequestedOpening, type StreamOpener } from "../../streaming/event_stream.ts";
import { createReadableStreamSinks } from "../../streaming/sinks/readable_stream_sink.ts";
import type { ObjectNamespace, StreamsObjectClass, WorkerOptions } from "./worker_options.ts";

/**
 * The caller that the Worker has authenticated, and the stream that it asks for, as the object reads them. The object can be
 * reached through the Worker only, and the Worker creates the request to it: a client's own copy of the header is dropped.
 */
interface HandOver extends Pick<RequestedOpening, "principal" | "hasSnapshot"> {
  /** The name of the `RequestedStream`. */
  readonly streamName: string;
}

/** https://developers.cloudflare.com/workers/platform/limits/#memory */
export const isolateBytes = 128 * 1_048_576;

const handOverHeader = "x-scanstream-hand-over";

/**
 * Streams on Workers, where no request may touch what another one opened: a Durable Object authorizes and opens them, and the
 * Worker only passes the bytes on.
 */
export function createObjectStreams(objects: ObjectNamespace, shardsPerTenant: number): StreamOpener {
  return {
    async open({ stream, principal, hasSnapshot, request }) {
      const name = await objectName(principal.tenantId, stream.name, shardsPerTenant);
      const object = objects.get(objects.idFromName(name));
      const handOver: HandOver = { principal, streamName: stream.name, hasSnapshot };
      try {
        // It has no credential, cookie or query of the client's, only its disconnect signal. A refusal is a problem document already.
        return await object.fetch(
          new Request("https://streams.internal/", {
            // A subject may be any text, a header may not.
            headers: { [handOverHeader]: encodeURIComponent(JSON.stringify(handOver)) },
            signal: request.signal,
          }),
        );
      } catch (cause) {
        // Overloaded, moved, or reset because its code was updated.
        throw new AppError("unavailable", "The streams of this tenant cannot be reached now", { cause });
      }
    },
  };
}

/** All streams of a name share an object, and so its subscriptions. Another count of shards names other objects. */
async function objectName(tenantId: string, streamName: string, shards: number): Promise<string> {
  if (shards === 1) return tenantId;
  const digest = await sha256Hex(streamName);
  return `${tenantId}:${Number.parseInt(digest.slice(0, 8), 16) % shards}/${shards}`;
}

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
        const header = request.headers.get(handOverHeader);
        if (header === null) throw new TypeError("Cannot open a stream: the Worker did not hand the request over");
        const { principal, streamName, hasSnapshot } = JSON.parse(decodeURIComponent(header)) as HandOver;
        const { manager, eventStreams } = (this.#opened ??= open(optionsOf(this.#environment)));
        const stream = findEventStream(eventStreams, new URL(streamName, request.url));
        if (stream === null) throw new NotFound("No such event stream");
        return await manager.open({ stream, principal, hasSnapshot, request });
      } catch (error) {
        const { log } = this.#opened ?? { log: createLog() };
        if (isUnexpected(error)) log.error({ error }, "a stream could not be opened");
        // The Worker's line about the request knows the status only.
        else if (isUnavailable(error)) log.warn(whyUnavailable(error), "a stream could not be opened");
        return problemResponse(error);
      }
    }
  };
}

function open({ features, bounds: given, log = createLog(), ...adapters }: WorkerOptions) {
  const eventStreams = eventStreamsOf(features);
  const bounds = toBounds(given);
  const manager = new ChannelManager({
    subscriber: adapters.broker.open(),
    database: adapters.database.open(),
    eventStreams,
    bounds,
    // The object is its tenant's own.
    limits: createLimits({ ...bounds, tenantPercent: 100, memoryBytes: isolateBytes }),
    // Otherwise the runtime compresses, and buffers what it compresses.
    createSink: createReadableStreamSinks({ headers: { "content-encoding": "identity" } }),
    log,
  });
  return { eventStreams, manager, log };
}
