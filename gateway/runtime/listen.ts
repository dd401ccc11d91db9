import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { listenProblem, maxUnaccepted, type ListenAddress } from "./http_runtime.ts";

export interface Listening {
  readonly servers: readonly Server[];
  /** The port of all servers. */
  readonly port: number;
}

/** A slow client has this long to send its head, and its whole request. */
const headersTimeoutMs = 20_000;
const requestTimeoutMs = 60_000;
/** How late a bound above may be noticed; Node's own default is 30 s. */
const checkConnectionsEveryMs = 5000;
/** Longer than what proxies keep idle connections for, so that none sends a request into a closing connection. */
const keepAliveTimeoutMs = 75_000;
const probeAfterMs = 30_000;
/** More connections than open files are of no use, see `LimitNOFILE`. */
const maxServerConnections = 65_536;
/**
 * Node accepts one connection a turn of its event loop for each server that listens (libuv since 1.45). With many streams a turn
 * takes milliseconds: clients that come back together would wait for minutes, and other tenants' behind them.
 */
const acceptedPerTurn = 32;

/**
 * Listens: at `PORT` with several servers that share it, where the system has that. Rejects with `UsageError` for an address that
 * cannot be listened on.
 */
export async function listen(listener: RequestListener, address: ListenAddress): Promise<Listening> {
  const isShared = address.isForClients && process.platform === "linux";
  // Servers that share a port share it with any program of the same user that does so, too: nobody else may have it.
  if (isShared && address.port !== 0) {
    const server = await listenAlone(listener, address);
    await new Promise((done) => server.close(done));
  }
  const count = isShared ? acceptedPerTurn : 1;
  const options = isShared ? { reusePort: true, backlog: maxUnaccepted / acceptedPerTurn } : {};
  const first = await listenAlone(listener, address, options);
  // A server that listens on a port has no other kind of address.
  const { port } = first.address() as AddressInfo;
  const servers = [first];
  try {
    while (servers.length < count) {
      servers.push(await listenAlone(listener, { ...address, port }, options));
    }
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }
  return { servers, port };
}

async function listenAlone(
  listener: RequestListener,
  address: ListenAddress,
  options: { readonly reusePort?: boolean; readonly backlog?: number } = {},
): Promise<Server> {
  const { host, port } = address;
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: checkConnectionsEveryMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: probeAfterMs,
      noDelay: true,
    },
    listener,
  );
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

function watchAnswer({ socket }: IncomingMessage, response: ServerResponse): void {
  answering.add(socket);
  response.once("close", forgetAnswer);
}

function forgetAnswer(this: ServerResponse): void {
  answering.delete(this.req.socket);
}

const refusals: Readonly<Record<string, string>> = {
  HPE_INVALID_METHOD: "405 Method Not Allowed\r\nallow: GET, HEAD, POST, PATCH, PUT, DELETE",
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** Answers what Node rejects before it becomes a request. https://nodejs.org/api/http.html#event-clienterror */
function refuseClient(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable || answering.has(socket)) {
    socket.destroy();
    return;
  }
  const line = refusals[error.code ?? ""] ?? "400 Bad Request";
  const code = line.startsWith("405") ? "method_not_allowed" : "malformed";
  const [status = "", title = ""] = /^(\d+) (.*)/.exec(line)?.slice(1) ?? [];
  const detail =
    code === "malformed"
      ? "The request cannot be understood"
      : "The method is not known: expected GET, HEAD, POST, PATCH, PUT or DELETE";
  const body = JSON.stringify({ type: `urn:scanstream:problem:${code}`, title, status: Number(status), detail, code });
  const head = `HTTP/1.1 ${line}\r\ncontent-type: application/problem+json\r\ncontent-length: ${body.length}`;
  socket.end(`${head}\r\nconnection: close\r\n\r\n${body}`);
}
