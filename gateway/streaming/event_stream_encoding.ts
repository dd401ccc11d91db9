import { defaultHeartbeatSeconds } from "../../shared/client/subscribe_options.ts";
import { parseChannelName } from "../../shared/channel_name.ts";
import { terminalTypeOf, type EncodedEvent } from "../../shared/event.ts";

/** The server-sent-events format (https://html.spec.whatwg.org/multipage/server-sent-events.html): text, to be sent as UTF-8. */
export function encodeEventFrame(event: EncodedEvent): string {
  return `event: ${event.type}\ndata: ${event.data}\n\n`;
}

/**
 * A line that every client ignores: heartbeats, and the reason of a close. Line breaks in it would start a new field. No
 * blank line follows: only an event ends with one, because several clients make an empty message of a block without data.
 */
export function encodeComment(text: string): string {
  return `: ${text.replace(/[\r\n\0]+/g, " ")}\n`;
}

/** Tells clients where a stream ends: the type of its terminal events, and their number, one for each channel of the feature. */
export function encodeTerminalType(channels: readonly string[]): string {
  const name = parseChannelName(channels[0]);
  return name === null ? "" : encodeComment(`terminal ${terminalTypeOf(name.prefix)} ${channels.length}`);
}

/** How long a client waits before it reconnects, in whole milliseconds. It counts as soon as the line was read. */
export function encodeRetry(retryMs: number): string {
  return `retry: ${Math.round(retryMs)}\n`;
}

/**
 * The last bytes of a stream: why it is closed and, unless null, when to come back. The space begins a line that never ends,
 * and so the stream ends in the middle of a block. Every client discards that, as the standard requires; after a finished
 * comment go-sse takes the end for the end of everything and does not reconnect, or makes an empty message of `retry`.
 */
export function encodeClose(reason: string, retryMs: number | null): string {
  return `${retryMs === null ? "" : encodeRetry(retryMs)}${encodeComment(`close ${reason}`)} `;
}

/** Comment that a gateway with a longer interval writes after `: open`, so that clients wait longer for its heartbeats; otherwise nothing. */
export function encodeHeartbeatInterval(heartbeatSeconds: number): string {
  return heartbeatSeconds > defaultHeartbeatSeconds
    ? encodeComment(`heartbeat-seconds ${Math.ceil(heartbeatSeconds)}`)
    : "";
}

/** The bytes of one or more whole events, encoded once and handed to every stream: no stream copies or changes them. */
export interface Chunk {
  /** Server-sent events as they are. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same as one chunk of the chunked transfer coding (RFC 9112, section 7.1): for sinks that own an HTTP/1.1 socket. */
  readonly chunked: Uint8Array<ArrayBuffer>;
}

interface NodeGlobals {
  readonly Buffer?: { alloc(size: number): Uint8Array<ArrayBuffer> };
}

/** On Node a socket takes a `Buffer` as it is, and wraps any other array once for each stream. */
const { Buffer: buffer } = globalThis as NodeGlobals;
const encoder = new TextEncoder();

/** Encodes text that is not empty: an empty chunk would end the HTTP response. */
export function encodeChunk(text: string): Chunk {
  if (text === "") throw new RangeError("Cannot encode a chunk: the text is empty");
  const isAscii = !/[^\0-\x7f]/.test(text);
  const byteLength = isAscii ? text.length : encoder.encode(text).byteLength;
  const head = `${byteLength.toString(16)}\r\n`;
  const length = head.length + byteLength + 2;
  const chunked = buffer?.alloc(length) ?? new Uint8Array(length);
  encoder.encodeInto(`${head}${text}\r\n`, chunked);
  return { bytes: chunked.subarray(head.length, head.length + byteLength), chunked };
}
