import { AppError } from "../../../shared/app_error.ts";
import type { StreamOpener } from "../../streaming/event_stream.ts";
import type { ObjectNamespace } from "./bindings.ts";
import { toObjectRequest } from "./hand_over.ts";

export interface ObjectStreamsOptions {
  readonly objects: ObjectNamespace;
  readonly shardsPerTenant: number;
}

/**
 * Streams on Workers, where no request may touch what another one opened: a Durable Object authorizes and opens them, and the
 * Worker only passes the bytes on.
 */
export function createObjectStreams({ objects, shardsPerTenant }: ObjectStreamsOptions): StreamOpener {
  return {
    async open(opening) {
      const { principal, stream } = opening;
      const name = objectName(principal.tenantId, stream.target.name, shardsPerTenant);
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
