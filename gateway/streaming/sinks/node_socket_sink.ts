import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Http2Bindings, HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { resetSocket } from "../../../shared/reset_socket.ts";
import type { Chunk } from "../encoded_chunk.ts";
import { streamHeaders, type CreateSink, type Sink, type SinkOwner } from "./sink.ts";

type Fetch<Bindings> = (request: Request, bindings: Bindings) => Response | Promise<Response>;

/** The property of the bindings in which a request's sink registers itself. */
const streamSink = Symbol("streamSink");

interface SinkBindings {
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
    const own: HttpBindings & SinkBindings = Object.assign(bindings as HttpBindings, { [streamSink]: null });
    const response = await fetch(request, own);
    const sink = own[streamSink];
    if (sink === null) return response;
    // Middleware failed, or replaced the response.
    if (!sink.isAnsweredBy(response)) {
      sink.closed();
      return response;
    }
    sink.start(response.headers);
    return alreadySent();
  };
}

/**
 * Sinks that write shared, already chunked frames to the socket of the HTTP/1.1 response: on the wire an ordinary
 * chunked response. What cannot be written like that (HTTP/1.0, a pipelined request whose turn has not come, an app
 * that is not wrapped in `withNodeSockets`) goes to `fallback`.
 */
export function createNodeSocketSinks(fallback: CreateSink): CreateSink {
  return (stream, owner) => {
    const bindings = stream.platform;
    if (!isBindings(bindings)) return fallback(stream, owner);
    if (!hasOwnSocket(bindings)) return overResponse(bindings.outgoing, fallback(stream, owner), owner);
    const sink = new NodeSocketSink(bindings.outgoing, owner);
    bindings[streamSink] = sink;
    return sink;
  };
}

/** The property of a response that holds its sink, so that one listener serves all. */
const sinkOf = Symbol("sinkOf");

interface HijackedResponse extends ServerResponse {
  [sinkOf]?: NodeSocketSink;
}

class NodeSocketSink implements Sink {
  readonly #outgoing: HijackedResponse;
  readonly #owner: SinkOwner;
  /** Kept because a finished response no longer knows it. */
  #socket: Socket | null = null;
  /** Chunks that wait until the response has passed through the app; null once the head is written. */
  #early: Chunk[] | null = [];
  #last: Chunk | null = null;

  constructor(outgoing: ServerResponse, owner: SinkOwner) {
    this.#outgoing = outgoing;
    this.#owner = owner;
    if (outgoing.destroyed) {
      owner.onClosed();
      return;
    }
    this.#outgoing[sinkOf] = this;
    outgoing.on("close", onClose);
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
    const early = this.#early;
    const socket = outgoing.socket;
    if (early === null || socket === null || outgoing.destroyed) return this.destroy();
    this.#early = null;
    this.#socket = socket;
    outgoing.writeHead(200, toNodeHeaders(headers));
    socket.cork();
    outgoing.flushHeaders();
    for (const chunk of early) socket.write(nodeBuffer(chunk));
    if (this.#last !== null) this.end(this.#last);
    socket.uncork();
  }

  write(chunk: Chunk): number {
    if (this.#early !== null) {
      this.#early.push(chunk);
      return this.bufferedBytes();
    }
    // Not through the response: with ten thousand streams each extra object touched costs a cache miss.
    const socket = this.#socket;
    if (socket === null) return 0;
    const isBuffered = socket.writableLength > 0;
    if (socket.write(nodeBuffer(isBuffered ? chunk.detachedCopy : chunk))) return 0;
    return socket.writableLength;
  }

  bufferedBytes(): number {
    if (this.#early !== null) return this.#early.reduce((sum, chunk) => sum + chunk.chunked.byteLength, 0);
    return this.#outgoing.socket?.writableLength ?? 0;
  }

  end(last: Chunk): void {
    if (this.#early !== null) this.#last = last;
    else this.#outgoing.end(last.bytes);
  }

  /** The response emits `close` by itself. */
  finishIfDrained(): void {}

  destroy(): void {
    // After a plain close the kernel would keep the unread bytes for as long as the client acknowledges.
    if (this.#socket !== null) resetSocket(this.#socket);
    this.#outgoing.destroy();
    this.closed();
  }

  /** Every way of ending: the response was finished, its socket was lost, or another response was sent instead. */
  closed(): void {
    this.#outgoing.off("close", onClose);
    delete this.#outgoing[sinkOf];
    this.#owner.onClosed();
  }
}

/** Another sink on the same HTTP response. An error in its body would be written to standard error by the server. */
function overResponse(outgoing: ServerResponse, sink: Sink, owner: SinkOwner): Sink {
  return {
    open: (first) => sink.open(first),
    write: (chunk) => sink.write(chunk),
    bufferedBytes: () => sink.bufferedBytes() + outgoing.writableLength,
    end: (last) => sink.end(last),
    finishIfDrained: () => sink.finishIfDrained(),
    destroy() {
      outgoing.destroy();
      owner.onClosed();
    },
  };
}

function onClose(this: HijackedResponse): void {
  this[sinkOf]?.closed();
}

/** `Writable` wraps what is no `Buffer`: wrapped once for all sockets that the chunk is written to. */
let lastChunk: Chunk | null = null;
let lastBuffer = Buffer.alloc(0);

function nodeBuffer(chunk: Chunk): Buffer {
  if (chunk !== lastChunk) {
    const { buffer, byteOffset, byteLength } = chunk.chunked;
    lastChunk = chunk;
    lastBuffer = Buffer.from(buffer, byteOffset, byteLength);
  }
  return lastBuffer;
}

function isBindings(platform: unknown): platform is HttpBindings & SinkBindings {
  return typeof platform === "object" && platform !== null && streamSink in platform;
}

/** True for an HTTP/1.1 response that has its socket, and with it the chunked coding, to itself. */
function hasOwnSocket(bindings: HttpBindings): boolean {
  const { incoming, outgoing } = bindings;
  return incoming.httpVersion === "1.1" && outgoing.socket !== null && !outgoing.headersSent;
}

function toNodeHeaders(headers: Headers): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = Object.fromEntries(headers);
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) result["set-cookie"] = cookies;
  return result;
}

function alreadySent(): Response {
  // Once `@hono/node-server` has replaced the global `Response`, it would write a fresh one without reading its headers;
  // asking for the body makes it an ordinary one.
  void RESPONSE_ALREADY_SENT.body;
  return RESPONSE_ALREADY_SENT;
}
