import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { answerClientErrors, requireOneHost } from "./client_errors.ts";
import { listenProblem, maxUnaccepted, type ListenAddress } from "./http_runtime.ts";

export interface Listening {
  readonly servers: readonly Server[];
  /** That of all servers. */
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
/**
 * Node accepts one connection a turn of its event loop for each server that listens (libuv since 1.45). With many streams a turn
 * takes milliseconds, and clients that come back together would wait for minutes while the gateway has time for them.
 */
const acceptedPerTurn = 8;

/** As `listen`, for clients that come by thousands: several servers share the port, where the system has that. */
export async function listenForMany(listener: RequestListener, address: ListenAddress): Promise<Listening> {
  if (process.platform !== "linux") return listen(listener, address);
  // Servers that share a port share it with any program of the same user that does so, too: nobody else may have it.
  if (address.port !== 0) await requireFree(address);
  const options = { reusePort: true, backlog: maxUnaccepted / acceptedPerTurn };
  const first = await listen(listener, address, options);
  const servers = [...first.servers];
  try {
    while (servers.length < acceptedPerTurn) {
      const next = await listen(listener, { ...address, port: first.port }, options);
      servers.push(...next.servers);
    }
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }
  return { servers, port: first.port };
}

async function requireFree(address: ListenAddress): Promise<void> {
  const { servers } = await listen(() => {}, address);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
}

/** Rejects with `UsageError` for an address that cannot be listened on. */
export async function listen(
  listener: RequestListener,
  { host, port, variable }: ListenAddress,
  options: { readonly reusePort?: boolean; readonly backlog?: number } = {},
): Promise<Listening> {
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: checkConnectionsEveryMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: probeAfterMs,
      noDelay: true,
      // Node's own answer is no problem document, and it takes several.
      requireHostHeader: false,
    },
    requireOneHost(listener),
  );
  answerClientErrors(server);
  await new Promise<void>((done, fail) => {
    server.once("error", (error) => fail(listenProblem(error, variable)));
    server.listen({ host, port, backlog: maxUnaccepted, ...options }, () => done());
  });
  // A server that listens on a port has no other kind of address.
  return { servers: [server], port: (server.address() as AddressInfo).port };
}
