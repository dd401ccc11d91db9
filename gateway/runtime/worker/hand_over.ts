import { isJsonObject } from "../../../shared/json.ts";
import { isUuid, parseChannelName } from "../../../shared/channel_name.ts";
import type { Principal } from "../../auth/principal.ts";
import type { StreamRequest } from "../../streaming/stream_opener.ts";

/**
 * What the Worker has decided about a stream, as the object that opens it reads it. The object can be reached through the
 * Worker only, and the Worker creates the request to it: a client's own copy of the header is dropped.
 */
export interface HandOver extends Pick<StreamRequest, "principal" | "channels"> {
  /** The name of the stream that begins with a snapshot, which the object reads; null: without one. */
  readonly snapshotOf: string | null;
}

export const handOverHeader = "x-scanstream-hand-over";

/** The request for the object: it has no credential, cookie or query of the client's, only its disconnect signal. */
export function toObjectRequest(stream: StreamRequest): Request {
  const { principal, channels, snapshot, request } = stream;
  const decided: HandOver = {
    principal,
    channels,
    snapshotOf: snapshot?.streamName ?? null,
  };
  return new Request("https://streams.internal/", {
    // A subject may be any text, a header may not.
    headers: { [handOverHeader]: encodeURIComponent(JSON.stringify(decided)) },
    signal: request.signal,
  });
}

/** Throws `TypeError` for a request that the Worker did not make. */
export function parseHandOver(request: Request): HandOver {
  const header = request.headers.get(handOverHeader);
  const decided: unknown = header === null ? null : JSON.parse(decodeURIComponent(header));
  if (!isHandOver(decided)) throw new TypeError("Cannot open a stream: the request was not handed over by the Worker");
  return decided;
}

function isHandOver(value: unknown): value is HandOver {
  if (!isJsonObject(value)) return false;
  const { principal, channels, snapshotOf } = value;
  if (snapshotOf !== null && typeof snapshotOf !== "string") return false;
  if (!isPrincipal(principal) || !Array.isArray(channels) || channels.length === 0) return false;
  return channels.every(
    (channel) => typeof channel === "string" && parseChannelName(channel)?.tenantId === principal.tenantId,
  );
}

function isPrincipal(value: unknown): value is Principal {
  if (!isJsonObject(value)) return false;
  const { kind, id, tenantId, expiresAtMs, onlyStream } = value;
  return (
    (kind === "user" || kind === "api_key") &&
    typeof id === "string" &&
    isUuid(tenantId) &&
    (expiresAtMs === null || typeof expiresAtMs === "number") &&
    (onlyStream === null || typeof onlyStream === "string")
  );
}
