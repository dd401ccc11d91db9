import type { Chunk } from "../encoded_chunk.ts";
import type { StreamRequest } from "../streams.ts";
import { streamHeaders, type CreateSink, type Sink, type SinkOwner } from "./sink.ts";

export interface ReadableStreamSinkOptions {
  /** Sent beside the stream's own. Workers need `content-encoding: identity`, or they compress and hold events back. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The portable sink: the body of a web-standard `Response`. */
export function createReadableStreamSinks(options: ReadableStreamSinkOptions = {}): CreateSink {
  const headers = { ...streamHeaders, ...options.headers };
  return (stream, owner) => new ReadableStreamSink(stream, owner, headers);
}

const strategy: QueuingStrategy<Uint8Array<ArrayBuffer>> = {
  highWaterMark: 0,
  size: (bytes) => bytes.byteLength,
};

/** Is its own underlying source and event listener, so that a stream needs no closures. */
class ReadableStreamSink implements Sink {
  readonly #owner: SinkOwner;
  readonly #signal: AbortSignal;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #platform: unknown;
  #isCompleting = false;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | null = null;

  constructor(stream: StreamRequest, owner: SinkOwner, headers: Readonly<Record<string, string>>) {
    this.#owner = owner;
    this.#headers = headers;
    this.#platform = stream.platform;
    // Read before the first await: @hono/node-server aborts only a signal that somebody has asked for.
    this.#signal = stream.request.signal;
    if (this.#signal.aborted) owner.gone();
    else this.#signal.addEventListener("abort", this);
  }

  /** The request's signal. */
  handleEvent(): void {
    const controller = this.#controller;
    this.#finish();
    try {
      // Not an error: a server would log it, and there is nobody left to be told.
      controller?.close();
    } catch {
      // Deno may have cancelled the stream before it aborts the signal; what an event listener throws ends the process.
    }
  }

  /** The underlying source's. */
  start(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): void {
    this.#controller = controller;
  }

  /** The underlying source's: the client left. */
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
      controller.enqueue((this.bufferedBytes() > 0 ? chunk.kept : chunk).bytes);
      return this.bufferedBytes();
    } catch {
      // Closed or errored by the runtime, which had no other way of saying that the client left.
      this.#finish();
      return 0;
    }
  }

  bufferedBytes(): number {
    // With a high-water mark of 0 this is the waiting bytes, negated.
    return 0 - (this.#controller?.desiredSize ?? 0);
  }

  end(last: Chunk): void {
    this.write(last);
    if (this.#controller === null) return;
    this.#controller.close();
    this.settle();
  }

  settle(): void {
    if (this.#controller !== null && this.bufferedBytes() === 0) this.#release();
  }

  destroy(): void {
    // Drops what waits; workerd keeps it in a stream that was closed, until the client takes it or goes.
    this.#controller?.error(new Error("The stream was closed"));
    this.#release();
  }

  /** The body is over. */
  #release(): void {
    if (this.#controller !== null && isServedByDeno(this.#platform)) {
      // Deno keeps the connection of a client that reads nothing, whatever becomes of the body. Until it is gone the stream
      // is not, so that the bounds on streams hold such connections, too.
      this.#isCompleting = true;
      const finish = () => this.#finish();
      this.#platform.completed.then(finish, finish);
    }
    this.#controller = null;
    if (!this.#isCompleting) this.#finish();
  }

  #finish(): void {
    this.#controller = null;
    this.#signal.removeEventListener("abort", this);
    this.#owner.gone();
  }
}

/** What `Deno.serve` hands to its handler beside the request; `completed` settles once the response has left or cannot. */
function isServedByDeno(platform: unknown): platform is { readonly completed: Promise<void> } {
  return (
    typeof platform === "object" &&
    platform !== null &&
    "completed" in platform &&
    platform.completed instanceof Promise
  );
}
