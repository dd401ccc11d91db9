import type { RequestedOpening } from "../../streaming/event_stream.ts";

/**
 * The caller that the Worker has authenticated, and the stream that it asks for, as the object reads them. The object can be
 * reached through the Worker only, and the Worker creates the request to it: a client's own copy of the header is dropped.
 */
export interface HandOver extends Pick<RequestedOpening, "principal" | "hasSnapshot"> {
  /** Path and query, as in `StreamTarget`. */
  readonly streamName: string;
}

const handOverHeader = "x-scanstream-hand-over";

/** The request for the object: it has no credential, cookie or query of the client's, only its disconnect signal. */
export function toObjectRequest({ stream, principal, hasSnapshot, request }: RequestedOpening): Request {
  const handOver: HandOver = { principal, streamName: stream.target.name, hasSnapshot };
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
