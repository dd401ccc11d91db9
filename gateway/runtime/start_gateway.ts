import { settingsError } from "../config.ts";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { AppError } from "../../shared/app_error.ts";
import type { AdminArguments } from "../admin/arguments.ts";
import { executeAdmin, type AdminOperation } from "../admin/operations.ts";
import { createApp } from "../app.ts";
import { answerClientErrors } from "./client_errors.ts";
import { answerGraceMs, defaultDrainMs } from "./draining.ts";
import type { WebAssets } from "../http/dependencies.ts";
import { openGatewayParts, respondMetrics, type GatewayParts, type GatewayPartsOptions } from "./gateway_parts.ts";
import { hasCode } from "../../shared/error_code.ts";
import { problemResponse } from "../http/problem.ts";
import { createNodeSocketSinks, withNodeSockets } from "../streaming/sinks/node_socket_sink.ts";
import { createReadableStreamSinks } from "../streaming/sinks/readable_stream_sink.ts";

export type GatewayOptions = Omit<GatewayPartsOptions, "peerAddress" | "createSink" | "webAssets"> & {
  readonly webAssets?: WebAssets;
};

export interface RunningGateway {
  /** Without a slash at its end. */
  readonly url: string;
  /** Where `/metrics` is, when it has a port of its own. */
  readonly metricsUrl: string | null;
  readonly parts: GatewayParts;
  /** An administrative operation on this gateway's database. */
  admin(operation: AdminOperation, args: AdminArguments): Promise<unknown>;
  /** Closes the port, then the streams one by one, then releases everything. A second call waits for the first. */
  stop(options?: StopOptions): Promise<void>;
}

interface StopOptions {
  /** How long the closing of streams is spread. Default 3,000. */
  readonly drainMs?: number;
}

/**
 * Starts the gateway on Node, and on Deno by its `node:http`. Keeps nothing global and listens to no signal, so that several run in one process.
 * Rejects with `UsageError` when what is configured is not there.
 */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const { config } = options;
  const parts = await openGatewayParts({
    ...options,
    webAssets: options.webAssets ?? noAssets,
    peerAddress,
    createSink: createNodeSocketSinks(createReadableStreamSinks()),
  });
  const servers: Server[] = [];
  let stopping: Promise<void> | null = null;
  try {
    const server = await listen(appListener(parts), { host: config.host, port: config.port, variable: "PORT" });
    servers.push(server);
    const metricsServer =
      config.metricsPort === null ? null : await listenForMetrics(parts, config.host, config.metricsPort);
    if (metricsServer !== null) servers.push(metricsServer);
    return {
      url: urlOf(server, config.host, config.port),
      metricsUrl: metricsServer === null ? null : `${urlOf(metricsServer, config.host, config.metricsPort)}/metrics`,
      parts,
      admin: (operation, args) => executeAdmin(parts.admin, operation, args),
      stop(stopOptions = {}) {
        stopping ??= stop(parts, servers, stopOptions.drainMs ?? defaultDrainMs);
        return stopping;
      },
    };
  } catch (error) {
    for (const server of servers) server.close();
    await parts.close();
    throw error;
  }
}

async function stop(parts: GatewayParts, servers: readonly Server[], drainMs: number): Promise<void> {
  const closed = servers.map((server) => new Promise<void>((done) => server.close(() => done())));
  for (const server of servers) server.closeIdleConnections();
  const late = setTimeout(() => {
    for (const server of servers) server.closeAllConnections();
  }, drainMs + answerGraceMs);
  await parts.drain(drainMs);
  for (const server of servers) server.closeIdleConnections();
  await Promise.all(closed);
  clearTimeout(late);
  await parts.close();
}

function appListener(parts: GatewayParts): RequestListener {
  const app = createApp(parts.dependencies);
  return toListener(withNodeSockets((request, bindings) => app.fetch(request, bindings)));
}

function toListener(fetch: Parameters<typeof getRequestListener>[0]): RequestListener {
  const listener = getRequestListener(fetch, {
    // A bad Host or target is rejected before the app sees the request.
    errorHandler: (error) =>
      problemResponse(
        error instanceof AppError ? error : new AppError("malformed", "The request cannot be understood"),
      ),
  });
  // Every failure is answered by `errorHandler`; the promise never rejects.
  return (incoming: IncomingMessage, outgoing: ServerResponse) => void listener(incoming, outgoing);
}

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The variable that an error names. */
  readonly variable: "PORT" | "METRICS_PORT";
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
 * Connections that wait to be accepted; Linux takes at most `net.core.somaxconn`, by default as many. Node's own 511 are full at once
 * when thousands of clients come back together, and who was not let in tries again after 1, 3, 7, 15 s only.
 */
const maxUnaccepted = 4096;

async function listen(listener: RequestListener, { host, port, variable }: ListenAddress): Promise<Server> {
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
  answerClientErrors(server);
  await new Promise<void>((done, fail) => {
    server.once("error", (error) => fail(listenProblem(error, variable)));
    server.listen({ host, port, backlog: maxUnaccepted }, () => done());
  });
  return server;
}

async function listenForMetrics({ metricsText }: GatewayParts, host: string, port: number): Promise<Server> {
  const listener = toListener((request) => respondMetrics(metricsText, request));
  return listen(listener, { host, port, variable: "METRICS_PORT" });
}

function listenProblem(error: Error, variable: ListenAddress["variable"]): Error {
  if (hasCode(error, "EADDRINUSE")) {
    return settingsError([`${variable}: expected a free port: another program listens on it already`], {
      cause: error,
    });
  }
  if (hasCode(error, "EACCES")) {
    return settingsError([`${variable}: expected a port that this user may listen on, 1024 or higher`], {
      cause: error,
    });
  }
  if (hasCode(error, "ENOTFOUND", "EADDRNOTAVAIL", "EAI_AGAIN", "EINVAL")) {
    return settingsError(["HOST: expected an address of this machine, such as 127.0.0.1 or 0.0.0.0"], {
      cause: error,
    });
  }
  return error;
}

function urlOf(server: Server, host: string, configuredPort: number | null): string {
  // A server that listens on a port has no other kind of address; null where Deno Deploy has put its own listener in the place.
  const address = server.address() as AddressInfo | null;
  return `http://${host.includes(":") ? `[${host}]` : host}:${address?.port ?? configuredPort}`;
}

const noAssets: WebAssets = { read: async () => null };

/** `env` is what `@hono/node-server` hands to `fetch`. */
function peerAddress(env: unknown): string | null {
  if (typeof env !== "object" || env === null || !("incoming" in env)) return null;
  const { socket } = env.incoming as IncomingMessage;
  return socket.remoteAddress ?? null;
}
