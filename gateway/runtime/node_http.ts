import type { Server } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { createNodeSocketSinks, withNodeSockets } from "../streaming/sinks/node_socket_sink.ts";
import { createReadableStreamSinks } from "../streaming/sinks/readable_stream_sink.ts";
import { refuseRequest, type CloseOptions, type HttpRuntime } from "./http_runtime.ts";
import { listen } from "./listen.ts";

/** HTTP on Node: streams are written to their sockets. */
export const nodeHttp: HttpRuntime = {
  createSink: createNodeSocketSinks(createReadableStreamSinks()),
  // `env` is what `@hono/node-server` hands to `fetch`.
  // A request that no server of ours took, as in a test, has no connection.
  peerAddress: (env) => (env as Partial<HttpBindings> | undefined)?.incoming?.socket.remoteAddress ?? null,
  onClosed(env, release) {
    const outgoing = (env as Partial<HttpBindings> | undefined)?.outgoing;
    if (outgoing === undefined || outgoing.destroyed) release();
    else outgoing.once("close", release).setTimeout(maxSilenceMs, () => outgoing.destroy());
  },
  async serve(fetch, address) {
    const listener = getRequestListener(withNodeSockets(fetch), {
      // HTTP/1.0 has no Host header, and HAProxy checks the health of a server with it.
      hostname: "localhost",
      // A bad Host or target is rejected before the app sees the request. The listener's promise never rejects.
      errorHandler: refuseRequest,
    });
    const { servers, port } = await listen((incoming, outgoing) => void listener(incoming, outgoing), address);
    return { port, close: (options) => closeAll(servers, options) };
  },
};

/** A client that takes nothing of its answer for so long is gone, or means harm. */
const maxSilenceMs = 30_000;

async function closeAll(servers: readonly Server[], { drained, withinMs }: CloseOptions): Promise<void> {
  const closed = servers.map((server) => new Promise<void>((done) => server.close(() => done())));
  for (const server of servers) server.closeIdleConnections();
  const late = setTimeout(() => {
    for (const server of servers) server.closeAllConnections();
  }, withinMs);
  await drained;
  for (const server of servers) server.closeIdleConnections();
  await Promise.all(closed);
  clearTimeout(late);
}
