import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { AppError } from "../../shared/app_error.ts";
import type { AdminArguments } from "../operator/arguments.ts";
import { executeAdmin, type AdminOperation } from "../operator/operations.ts";
import { createApp } from "../app.ts";
import { answerGraceMs, defaultDrainMs } from "./draining.ts";
import type { WebAssets } from "../http/dependencies.ts";
import { openGatewayParts, respondMetrics, type GatewayParts, type GatewayPartsOptions } from "./gateway_parts.ts";
import { problemResponse } from "../http/problem.ts";
import { accountOf } from "../http/budget.ts";
import { FairStart } from "./fair_start.ts";
import { boundIdleConnections } from "./idle_connections.ts";
import { inTurn } from "./in_turn.ts";
import { isClientGone } from "./is_client_gone.ts";
import { leaveUnread } from "./leave_unread.ts";
import { listen, listenForMany, type Listening } from "./listen.ts";
import { UnreadAnswers } from "./unread_answers.ts";
import { createNodeSocketSinks, withNodeSockets } from "../streaming/sinks/node_socket_sink.ts";
import { createReadableStreamSinks } from "../streaming/sinks/readable_stream_sink.ts";

export type GatewayOptions = Omit<GatewayPartsOptions, "peerAddress" | "createSink" | "webAssets"> & {
  readonly webAssets?: WebAssets;
};

export interface RunningGateway {
  /** Without a slash at its end. */
  readonly url: string;
  /** Where `/metrics` is, when it has its own port. */
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
    const { host, port, metricsPort } = config;
    const listening = await listenForMany(appListener(parts), { host, port, variable: "PORT" });
    servers.push(...listening.servers);
    boundIdleConnections(servers);
    const metrics = metricsPort === null ? null : await listenForMetrics(parts, host, metricsPort);
    if (metrics !== null) servers.push(...metrics.servers);
    return {
      url: urlOf(host, listening.port),
      metricsUrl: metrics === null ? null : `${urlOf(host, metrics.port)}/metrics`,
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
  const fetch = withNodeSockets((request, bindings) => app.fetch(request, bindings));
  const unread = new UnreadAnswers(parts.dependencies.budget);
  const starts = new FairStart();
  const listener = toListener(async (request, bindings) => {
    const isForStream = /\/event-stream(\?|$)/.test(bindings.incoming.url ?? "");
    if (isForStream && (await isClientGone(bindings))) return clientGone();
    leaveUnread(bindings.incoming as IncomingMessage, bindings.outgoing as ServerResponse);
    // What asks whether this process lives is not to wait behind anybody.
    const isProbe = /^\/(?:healthz|readyz|metrics)$/.test(bindings.incoming.url ?? "");
    const response = isProbe
      ? await fetch(request, bindings)
      : await starts.run(parts.dependencies.holderOf(request, bindings), async () =>
          // It has waited for its turn, and its client may not have.
          bindings.outgoing.destroyed ? clientGone() : fetch(request, bindings),
        );
    // Streams have bounds of their own.
    if (!isForStream) unread.watch(bindings.outgoing as ServerResponse, accountOf(request).holder);
    return response;
  });
  return inTurn(listener);
}

/** Nobody reads it; the status is the one that proxies log for a client that left. */
function clientGone(): Response {
  return new Response(null, { status: 499 });
}

function toListener(fetch: Parameters<typeof getRequestListener>[0]): RequestListener {
  const listener = getRequestListener(fetch, {
    // HTTP/1.0 has no Host header, and HAProxy checks the health of a server with it.
    hostname: "localhost",
    // A bad Host or target is rejected before the app sees the request.
    errorHandler: (error) =>
      problemResponse(
        error instanceof AppError ? error : new AppError("malformed", "The request cannot be understood"),
      ),
  });
  // Every failure is answered by `errorHandler`; the promise never rejects.
  return (incoming: IncomingMessage, outgoing: ServerResponse) => void listener(incoming, outgoing);
}

async function listenForMetrics({ metricsText }: GatewayParts, host: string, port: number): Promise<Listening> {
  const listener = toListener((request) => respondMetrics(metricsText, request));
  return listen(listener, { host, port, variable: "METRICS_PORT" });
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

const noAssets: WebAssets = { read: async () => null };

/** `env` is what `@hono/node-server` hands to `fetch`. */
function peerAddress(env: unknown): string | null {
  if (typeof env !== "object" || env === null || !("incoming" in env)) return null;
  const { socket } = env.incoming as IncomingMessage;
  return socket.remoteAddress ?? null;
}
