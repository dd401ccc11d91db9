import type { Socket } from "node:net";
import type { ServerResponse } from "node:http";
import type { Http2Bindings, HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { resetSocket } from "../../../shared/reset_socket.ts";
import type { Chunk } from "../event_stream_encoding.ts";
import { streamHeaders, type CreateSink, type Sink, type SinkOwner } from "./sink.ts";

type Fetch<Bindings> = (request: Request, bindings: Bindings) => Response | Promise<Response>;

/** The property of the bindings in which a request's sink registers itself. */
const streamSink = Symbol("streamSink");

interface SinkBindings extends HttpBindings {
  [streamSink]: NodeSocketSink | null;
}

/**
 * Wraps an app's `fetch` for `@hono/node-server`, so that streams can be written to the socket of their HTTP response.
 *
 * A response passes through the app like any other, with the headers that its middleware sets; then the head is written, and
 * the sink takes the response over.
 */
export function withNodeSockets(fetch: Fetch<HttpBindings>): Fetch<HttpBindings | Http2Bindings> {
  return async (request, bindings) => {
    const own: SinkBindings = Object.assign(bindings as HttpBindings, { [streamSink]: null });
    const response = await fetch(request, own);
    const sink = own[streamSink];
    if (sink === null) return response;
    if (sink.isAnsweredBy(response)) {
      sink.start(response.headers);
      return alreadySent();
    }
    // Middleware failed, or replaced the response.
    sink.abandon();
    return response;
  };
}

/** Sinks that write to the HTTP response itself. An app that is not wrapped in `withNodeSockets` gets those of `fallback`. */
export function createNodeSocketSinks(fallback: CreateSink): CreateSink {
  return (stream, owner) => {
    const bindings = stream.platform;
    if (!isBindings(bindings)) return fallback(stream, owner);
    const sink = new NodeSocketSink(bindings.outgoing, owner);
    bindings[streamSink] = sink;
    return sink;
  };
}

/**
 * Writes shared, already chunked frames to the socket of an HTTP/1.1 response: on the wire an ordinary chunked response. To HTTP/1.0,
 * and to a pipelined request whose turn has not come, it writes through the response.
 */
class NodeSocketSink implements Sink {
  readonly #outgoing: ServerResponse;
  readonly #owner: SinkOwner;
  /** The response's own; null before the head is written, and where the response is written through. */
  #socket: Socket | null = null;
  /** Chunks that wait until the response has passed through the app; null once the head is written. */
  #early: Chunk[] | null = [];
  #last: Chunk | null = null;

  constructor(outgoing: ServerResponse, owner: SinkOwner) {
    this.#outgoing = outgoing;
    this.#owner = owner;
    if (outgoing.destroyed) owner.onClosed();
    else outgoing.once("close", () => owner.onClosed());
  }

  open(first: Chunk): Response {
    this.#early?.push(first);
    return new Response(null, { headers: streamHeaders });
  }

  /** True for the response that `open` gave, no matter what headers were added. */
  isAnsweredBy(response: Response): boolean {
    return response.status === 200 && response.headers.get("content-type") === streamHeaders["content-type"];
  }

  /** Writes the head and the chunks that waited for it, in one packet. */
  start(headers: Headers): void {
    const outgoing = this.#outgoing;
    const early = this.#early ?? [];
    if (outgoing.destroyed) return this.destroy();
    this.#early = null;
    if (outgoing.req.httpVersion === "1.1") this.#socket = outgoing.socket;
    outgoing.writeHead(200, [...headers].flat());
    this.#socket?.cork();
    outgoing.flushHeaders();
    for (const chunk of early) this.write(chunk);
    if (this.#last !== null) this.end(this.#last);
    this.#socket?.uncork();
  }

  /** Another response was sent instead. */
  abandon(): void {
    this.#owner.onClosed();
  }

  write(chunk: Chunk): number {
    // Not through the response: with ten thousand streams each extra object touched costs a cache miss.
    const socket = this.#socket;
    if (socket !== null) {
      if (socket.write(chunk.chunked)) return 0;
      return socket.writableLength;
    }
    if (this.#early !== null) this.#early.push(chunk);
    else if (!this.#outgoing.destroyed) this.#outgoing.write(chunk.bytes);
    return this.bufferedBytes();
  }

  bufferedBytes(): number {
    if (this.#early !== null) return this.#early.reduce((sum, chunk) => sum + chunk.chunked.byteLength, 0);
    // A finished response no longer knows its socket.
    return (this.#socket === null ? this.#outgoing : this.#outgoing.socket)?.writableLength ?? 0;
  }

  end(last: Chunk): void {
    if (this.#early !== null) this.#last = last;
    else this.#outgoing.end(last.bytes);
  }

  destroy(): void {
    // After a plain close the kernel would keep the unread bytes for as long as the client acknowledges.
    if (this.#socket !== null) resetSocket(this.#socket);
    this.#outgoing.destroy();
    this.#owner.onClosed();
  }
}

function isBindings(platform: unknown): platform is SinkBindings {
  return typeof platform === "object" && platform !== null && streamSink in platform;
}

function alreadySent(): Response {
  // Once `@hono/node-server` has replaced the global `Response`, it would write a fresh one without reading its headers;
  // asking for the body makes it an ordinary one.
  void RESPONSE_ALREADY_SENT.body;
  return RESPONSE_ALREADY_SENT;
}
