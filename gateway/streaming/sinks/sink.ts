import type { Chunk } from "../encoded_chunk.ts";
import type { StreamRequest } from "../streams.ts";

/** Where one stream's bytes go. */
export interface Sink {
  /**
   * Gives the response whose head leaves now and whose first bytes are `first`. Called once, or never when the stream is
   * refused.
   */
  open(first: Chunk): Response;
  /** Returns how many bytes wait for the client; 0 while it keeps up. */
  write(chunk: Chunk): number;
  bufferedBytes(): number;
  /** Writes the last bytes and ends the response; `owner.gone()` follows once they have left. */
  end(last: Chunk): void;
  /** After `end`, now and then: calls `owner.gone()` when the last bytes have left and no event of the runtime said so. */
  settle(): void;
  /**
   * Frees what waits to be sent; `owner.gone()` follows, at once where the runtime closes the connection with it. Calling it
   * twice, or after the end, is fine.
   */
  destroy(): void;
}

/** The stream that a sink belongs to. */
export interface SinkOwner {
  /** The client left, or the response is finished. May be called more than once. */
  gone(): void;
}

/** Registers for the client's leaving at once, before anything is waited for: `owner.gone()` may follow at any time. */
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
