import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { accountOf, type Budget } from "../http/budget.ts";
import { createNodeSocketSinks, withNodeSockets } from "../streaming/sinks/node_socket_sink.ts";
import { createReadableStreamSinks } from "../streaming/sinks/readable_stream_sink.ts";
import {
  clientGone,
  refuseRequest,
  type CloseOptions,
  type Fetch,
  type HttpRuntime,
  type HttpServer,
} from "./http_runtime.ts";
import { boundIdleConnections } from "./idle_connections.ts";
import { inTurn } from "./in_turn.ts";
import { leaveUnread } from "./leave_unread.ts";
import { listen, listenForMany, type Listening } from "./listen.ts";
import { serve } from "./serve.ts";
import { UnreadAnswers } from "./unread_answers.ts";

/** HTTP on Node: streams are written to their sockets, and what waits for clients is bounded connection by connection. */
export const nodeHttp: HttpRuntime = {
  createSink: createNodeSocketSinks(createReadableStreamSinks()),
  // `env` is what `@hono/node-server` hands to `fetch`.
  // A request that no server of ours took, as in a test, has no connection.
  peerAddress: (env) => (env as Partial<HttpBindings> | undefined)?.incoming?.socket.remoteAddress ?? null,
  hasClientLeft: (env) => (env as HttpBindings).outgoing.destroyed,
  async serveApp(fetch, address, budget) {
    const listening = await listenForMany(appListener(fetch, budget), address);
    boundIdleConnections(listening.servers);
    return toHttpServer(listening);
  },
  serveMetrics: async (fetch, address) => toHttpServer(await listen(toListener(fetch), address)),
};

/** `scanstream serve`. */
export function serveOnNode(io: GatewayIo): Promise<number> {
  return serve(io, nodeHttp);
}

function appListener(fetch: Fetch, budget: Budget): RequestListener {
  const fetchToSocket = withNodeSockets(fetch);
  const unread = new UnreadAnswers(budget);
  const listener = toListener(async (request, bindings) => {
    // The servers speak HTTP/1.1 only.
    const { incoming, outgoing } = bindings as HttpBindings;
    const isForStream = /\/event-stream(\?|$)/.test(incoming.url ?? "");
    if (isForStream && (await hasEnded(incoming, outgoing))) return clientGone();
    leaveUnread(incoming, outgoing);
    const response = await fetchToSocket(request, bindings);
    // Streams have bounds of their own.
    if (!isForStream) unread.watch(outgoing, accountOf(request).holder);
    return response;
  });
  return inTurn(listener);
}

/**
 * True for a request whose client has already gone. In a storm requests for streams wait until their clients give up and come
 * again: answering it would cost as much as a live stream. The end of a connection is read in the turn of the event loop after
 * its request.
 */
async function hasEnded({ socket }: IncomingMessage, outgoing: ServerResponse): Promise<boolean> {
  await turn();
  await turn();
  return outgoing.destroyed || socket.readableEnded;
}

function toListener(fetch: Parameters<typeof getRequestListener>[0]): RequestListener {
  const listener = getRequestListener(fetch, {
    // HTTP/1.0 has no Host header, and HAProxy checks the health of a server with it.
    hostname: "localhost",
    // A bad Host or target is rejected before the app sees the request.
    errorHandler: refuseRequest,
  });
  // Every failure is answered by `errorHandler`; the promise never rejects.
  return (incoming: IncomingMessage, outgoing: ServerResponse) => void listener(incoming, outgoing);
}

function toHttpServer({ servers, port }: Listening): HttpServer {
  return { port, close: (options) => closeAll(servers, options) };
}

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
