import type { Chunk } from "../event_stream_encoding.ts";
import type { RequestedOpening } from "../event_stream.ts";

/** A stream that was authenticated and authorized, ready to be opened. */
export interface StreamRequest extends Pick<RequestedOpening, "request" | "principal" | "platform"> {
  /** As in `RequestedStream`. */
  readonly name: string;
  /** At least one, checked by `ChannelManager`. */
  readonly channels: readonly string[];
  /** Read once the broker has confirmed every channel, and sent before any event. Default: none. */
  readonly readSnapshot?: () => Promise<StreamSnapshot>;
}

export interface StreamSnapshot {
  readonly chunk: Chunk;
  /** Everything that is followed has ended: no terminal event may come. */
  readonly hasEnded: boolean;
}

/** The way of one stream's bytes. */
export interface Sink {
  /**
   * Gives the response whose head leaves now and whose first bytes are `first`. Called once, or never when the stream is
   * refused.
   */
  open(first: Chunk): Response;
  /** Returns how many bytes are buffered for the client; 0 while it keeps up. */
  write(chunk: Chunk): number;
  bufferedBytes(): number;
  /** Writes the last bytes and ends the response; `owner.onClosed()` follows once they have left. */
  end(last: Chunk): void;
  /** Called periodically after `end`: calls `owner.onClosed()` once the last bytes have left. Absent: the runtime has an event for it. */
  finishIfDrained?(): void;
  /**
   * Drops the buffered bytes; `owner.onClosed()` follows, at once where the runtime closes the connection with it. Calling it
   * twice, or after the end, is fine.
   */
  destroy(): void;
}

/** The stream that a sink belongs to. */
export interface SinkOwner {
  /** The client left, or the response is finished. May be called more than once. */
  onClosed(): void;
}

/** Listens for the client's disconnect at once, before the first await: `owner.onClosed()` may follow at any time. */
export type CreateSink = (stream: StreamRequest, owner: SinkOwner) => Sink;

/**
 * The head of every stream. No `connection` and no `transfer-encoding`: they are the server's, and HTTP/2 forbids them.
 * `no-transform` and `x-accel-buffering` keep proxies from compressing or collecting the events.
 */
export const streamHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};
