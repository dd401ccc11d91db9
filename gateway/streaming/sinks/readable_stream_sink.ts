import type { Chunk } from "../event_stream_encoding.ts";
import { streamHeaders, type CreateSink, type Sink, type SinkOwner } from "./sink.ts";

export interface ReadableStreamSinkOptions {
  /** Sent in addition to the stream's own. Workers need `content-encoding: identity`, or they compress and hold events back. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Settles when the runtime is done with the response that `fetch` was given `platform` for: until then a stream that was destroyed
   * holds its connection, and keeps its place. Default: the request's signal tells who left, and nothing outlives `destroy`.
   */
  readonly completed?: (platform: unknown) => Promise<void>;
}

/** The portable sink: the body of a web-standard `Response`. */
export function createReadableStreamSinks(options: ReadableStreamSinkOptions = {}): CreateSink {
  const headers = { ...streamHeaders, ...options.headers };
  const { completed } = options;
  return (stream, owner) => {
    if (completed === undefined) return new ReadableStreamSink(owner, headers, stream.request.signal);
    const sink = new ReadableStreamSink(owner, headers, null);
    const finish = () => sink.cancel();
    completed(stream.platform).then(finish, finish);
    return sink;
  };
}

const strategy: QueuingStrategy<Uint8Array<ArrayBuffer>> = {
  highWaterMark: 0,
  size: (bytes) => bytes.byteLength,
};

/** A sink that is its own underlying source and event listener, so that a stream needs no closures. */
class ReadableStreamSink implements Sink {
  readonly #owner: SinkOwner;
  /** Null: the runtime tells by itself when the response is over. */
  readonly #signal: AbortSignal | null;
  readonly #headers: Readonly<Record<string, string>>;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | null = null;

  /** `signal` is read before the first await: @hono/node-server aborts only a signal that was read. */
  constructor(owner: SinkOwner, headers: Readonly<Record<string, string>>, signal: AbortSignal | null) {
    this.#owner = owner;
    this.#headers = headers;
    this.#signal = signal;
    if (signal?.aborted === true) owner.onClosed();
    else signal?.addEventListener("abort", this);
  }

  /** The request's signal. */
  handleEvent(): void {
    const controller = this.#controller;
    this.#finish();
    try {
      // Not an error: a server would log it, and no client is left to read it.
      controller?.close();
    } catch {
      // The runtime may have cancelled the stream before it aborts the signal.
    }
  }

  /** The underlying source's. */
  start(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): void {
    this.#controller = controller;
  }

  /** The underlying source's, and the runtime's: the client left, or has everything. */
  cancel(): void {
    this.#finish();
  }

  open(first: Chunk): Response {
    const body = new ReadableStream(this, strategy);
    this.write(first);
    return new Response(body, { headers: this.#headers });
  }

  write(chunk: Chunk): number {
    const controller = this.#controller;
    if (controller === null) return 0;
    try {
      controller.enqueue(chunk.bytes);
      return this.bufferedBytes();
    } catch {
      // Closed or errored by the runtime: the client left.
      this.#finish();
      return 0;
    }
  }

  bufferedBytes(): number {
    // With a high-water mark of 0 this is the buffered bytes, negated.
    return 0 - (this.#controller?.desiredSize ?? 0);
  }

  end(last: Chunk): void {
    this.write(last);
    if (this.#controller === null) return;
    this.#controller.close();
    this.finishIfDrained();
  }

  finishIfDrained(): void {
    if (this.#signal !== null && this.#controller !== null && this.bufferedBytes() === 0) this.#finish();
  }

  destroy(): void {
    // An error drops the buffered bytes; workerd keeps those of a stream that was closed until the client reads them or leaves.
    this.#controller?.error(new Error("The stream was closed"));
    this.#controller = null;
    if (this.#signal !== null) this.#finish();
  }

  #finish(): void {
    this.#controller = null;
    this.#signal?.removeEventListener("abort", this);
    this.#owner.onClosed();
  }
}
