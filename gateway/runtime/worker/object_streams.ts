import { AppError } from "../../../shared/app_error.ts";
import type { RequestedOpening, StreamOpener } from "../../streaming/event_stream.ts";
import type { ObjectNamespace } from "./worker_options.ts";

/**
 * Streams on Workers, where no request may touch what another one opened: a Durable Object authorizes and opens them, and the
 * Worker only passes the bytes on.
 */
export function createObjectStreams(objects: ObjectNamespace, shardsPerTenant: number): StreamOpener {
  return {
    async open(opening) {
      const { principal, stream } = opening;
      const name = objectName(principal.tenantId, stream.name, shardsPerTenant);
      const object = objects.get(objects.idFromName(name));
      try {
        // A refusal of the object is a problem document already.
        return await object.fetch(toObjectRequest(opening));
      } catch (cause) {
        // Overloaded, moved, or reset because its code was updated.
        throw new AppError("unavailable", "The streams of this tenant cannot be reached now", {
          cause,
          retryAfterSeconds: 5,
        });
      }
    },
  };
}

/** All streams of a name share an object, and so its subscriptions. Another count of shards names other objects. */
function objectName(tenantId: string, streamName: string, shards: number): string {
  if (shards === 1) return tenantId;
  return `${tenantId}:${shardOf(streamName, shards)}/${shards}`;
}

/** FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
function shardOf(text: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % shards;
}

/**
 * The caller that the Worker has authenticated, and the stream that it asks for, as the object reads them. The object can be
 * reached through the Worker only, and the Worker creates the request to it: a client's own copy of the header is dropped.
 */
interface HandOver extends Pick<RequestedOpening, "principal" | "hasSnapshot"> {
  /** Path and query, as in `RequestedStream`. */
  readonly streamName: string;
}

const handOverHeader = "x-scanstream-hand-over";

/** The request for the object: it has no credential, cookie or query of the client's, only its disconnect signal. */
function toObjectRequest({ stream, principal, hasSnapshot, request }: RequestedOpening): Request {
  const handOver: HandOver = { principal, streamName: stream.name, hasSnapshot };
  return new Request("https://streams.internal/", {
    // A subject may be any text, a header may not.
    headers: { [handOverHeader]: encodeURIComponent(JSON.stringify(handOver)) },
    signal: request.signal,
  });
}

/** Throws `TypeError` for a request that the Worker did not make. */
export function parseHandOver(request: Request): HandOver {
  const header = request.headers.get(handOverHeader);
  if (header !== null) return JSON.parse(decodeURIComponent(header)) as HandOver;
  throw new TypeError("Cannot open a stream: the request was not handed over by the Worker");
}
