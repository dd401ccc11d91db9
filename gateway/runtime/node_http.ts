import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { Server as PortServer, type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { AppError } from "../../shared/app_error.ts";
import { toProblem } from "../http/problem.ts";
import { createNodeSocketSinks, withNodeSockets } from "../streaming/sinks/node_socket_sink.ts";
import { createReadableStreamSinks } from "../streaming/sinks/readable_stream_sink.ts";
import {
  listenProblem,
  maxUnaccepted,
  refuseRequest,
  type CloseOptions,
  type HttpRuntime,
  type ListenAddress,
} from "./http_runtime.ts";

/** A client that takes nothing of its answer for so long is gone, or means harm. */
const maxSilenceMs = 30_000;
/** More connections than open files are of no use, see `LimitNOFILE`. */
const maxServerConnections = 65_536;
/**
 * Node accepts one connection a turn of its event loop for each server that listens (libuv since 1.45). With many streams a turn
 * takes milliseconds: clients that come back together would wait for minutes, and other tenants' behind them.
 */
const acceptedPerTurn = 32;

const serverOptions = {
  // Time for a slow client to send its head, and its whole request.
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  // Delay with which these bounds may be noticed; Node's own default is 30 s.
  connectionsCheckingInterval: 5000,
  // Longer than what proxies keep idle connections for, so that none sends a request into a closing connection.
  keepAliveTimeout: 75_000,
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
  noDelay: true,
};

/** HTTP on Node: streams are written to their sockets. */
export const nodeHttp: HttpRuntime = {
  createSink: createNodeSocketSinks(createReadableStreamSinks()),
  // `env` is what `@hono/node-server` hands to `fetch`. In a test a request may have no connection.
  peerAddress: (env) => (env as Partial<HttpBindings> | undefined)?.incoming?.socket.remoteAddress ?? null,
  onClosed(env, release) {
    const outgoing = (env as Partial<HttpBindings> | undefined)?.outgoing;
    if (outgoing === undefined || outgoing.destroyed) release();
    else outgoing.once("close", release).setTimeout(maxSilenceMs, () => outgoing.destroy());
  },
  async serve(fetch, address) {
    const listener = getRequestListener(withNodeSockets(fetch), {
      // The listener's own cleanup ends connections whose refused bodies are still arriving after half a second.
      autoCleanupIncoming: false,
      // HTTP/1.0 has no Host header, and HAProxy checks the health of a server with it.
      hostname: "localhost",
      // A bad Host or target is rejected before the app sees the request. The listener's promise never rejects.
      errorHandler: refuseRequest,
    });
    const servers = await listen((incoming, outgoing) => void listener(incoming, outgoing), address);
    return { port: portOf(servers) ?? address.port, close: (options) => closeAll(servers, options) };
  },
};

/**
 * Listens: at `PORT` with several servers that share it, where the system has that. Rejects with `UsageError` for an address that
 * cannot be listened on.
 */
async function listen(listener: RequestListener, address: ListenAddress): Promise<readonly Server[]> {
  if (!address.isForClients || process.platform !== "linux") return [await listenAlone(listener, address)];
  // Servers that share a port share it with any program of the same user that does so, too: nobody else may have it.
  if (address.port !== 0) {
    const server = await listenAlone(listener, address);
    await new Promise((done) => server.close(done));
  }
  const options = { reusePort: true, backlog: maxUnaccepted / acceptedPerTurn };
  const servers: Server[] = [];
  try {
    while (servers.length < acceptedPerTurn) {
      const port = portOf(servers) ?? address.port;
      servers.push(await listenAlone(listener, { ...address, port }, options));
    }
    return servers;
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }
}

/** The port of all servers; a server that listens on a port has no other kind of address. */
function portOf([server]: readonly Server[]): number | undefined {
  return (server?.address() as AddressInfo | undefined)?.port;
}

async function listenAlone(
  listener: RequestListener,
  address: ListenAddress,
  options: { readonly reusePort?: boolean; readonly backlog?: number } = {},
): Promise<Server> {
  const { host, port } = address;
  const server = createServer(serverOptions, listener);
  server.maxConnections = maxServerConnections;
  server.on("request", watchAnswer).on("clientError", refuseClient);
  await new Promise<void>((done, fail) => {
    server.once("error", (error) => fail(listenProblem(error, address)));
    server.listen({ host, port, backlog: maxUnaccepted, ...options }, () => done());
  });
  return server;
}

/** Sockets with a response under way: another one would be read as part of it. */
const answering = new WeakSet<Duplex>();

function watchAnswer(this: Server, request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  answering.add(socket);
  // Its next request would find the connection closed.
  if (!this.listening) response.shouldKeepAlive = false;
  response.once("close", () => {
    answering.delete(socket);
    // Nothing reads the rest of a body that was read in part. The client has time to read why it was refused.
    if (!request.complete && (request.destroyed || request.readableFlowing !== true)) {
      setTimeout(() => socket.destroy(), 500);
    }
  });
}

const methods = "GET, HEAD, POST, PATCH, PUT, DELETE";
const malformed = toProblem(new AppError("malformed", "The request cannot be understood"));
const refusals: Readonly<Record<string, typeof malformed>> = {
  HPE_INVALID_METHOD: toProblem(
    new AppError("method_not_allowed", `The method is not known: expected one of ${methods}`),
  ),
  HPE_HEADER_OVERFLOW: { ...malformed, status: 431, title: "Request header fields too large" },
  ERR_HTTP_REQUEST_TIMEOUT: { ...malformed, status: 408, title: "Request timeout" },
};

/** Answers what Node rejects before it becomes a request. https://nodejs.org/api/http.html#event-clienterror */
function refuseClient({ code = "" }: NodeJS.ErrnoException, socket: Duplex): void {
  if (code === "ECONNRESET" || !socket.writable || answering.has(socket)) {
    socket.destroy();
    return;
  }
  const problem = refusals[code] ?? malformed;
  const body = JSON.stringify(problem);
  const allow = problem.status === 405 ? `\r\nallow: ${methods}` : "";
  const head = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}${allow}\r\nconnection: close`;
  socket.end(`${head}\r\ncontent-type: application/problem+json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
}

async function closeAll(servers: readonly Server[], { drained, withinMs }: CloseOptions): Promise<void> {
  // Only the port: the server's own `close` also ends connections that are idle, just when a proxy may send a request on one.
  const closed = servers.map((server) => new Promise((done) => void PortServer.prototype.close.call(server, done)));
  const late = setTimeout(() => {
    for (const server of servers) server.closeAllConnections();
  }, withinMs);
  await Promise.race([drained, Promise.all(closed)]);
  for (const server of servers) server.close();
  await Promise.all(closed);
  clearTimeout(late);
}
