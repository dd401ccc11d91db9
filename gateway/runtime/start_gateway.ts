import type { AdminArguments } from "../operator/arguments.ts";
import { executeAdmin, type AdminOperation } from "../operator/operations.ts";
import { createApp } from "../app.ts";
import { answerGraceMs, defaultDrainMs } from "./draining.ts";
import type { WebAssets } from "../http/dependencies.ts";
import { openGatewayParts, respondMetrics, type GatewayParts, type GatewayPartsOptions } from "./gateway_parts.ts";
import { FairStart } from "./fair_start.ts";
import { clientGone, type Fetch, type HttpRuntime, type HttpServer } from "./http_runtime.ts";

export type GatewayOptions = Omit<GatewayPartsOptions, "peerAddress" | "createSink" | "webAssets"> & {
  readonly http: HttpRuntime;
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
 * Starts the gateway on Node or Deno. Keeps nothing global and listens to no signal, so that several run in one process.
 * Rejects with `UsageError` when what is configured is not there.
 */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const { config, http } = options;
  const parts = await openGatewayParts({
    ...options,
    webAssets: options.webAssets ?? noAssets,
    peerAddress: http.peerAddress,
    createSink: http.createSink,
  });
  const servers: HttpServer[] = [];
  let stopping: Promise<void> | null = null;
  try {
    const { host, port, metricsPort } = config;
    const { budget } = parts.dependencies;
    const app = await http.serveApp(createFetch(parts, http), { host, port, variable: "PORT" }, budget);
    servers.push(app);
    const fetchMetrics: Fetch = (request) => respondMetrics(parts.metricsText, request);
    const metricsAddress = { host, port: metricsPort ?? 0, variable: "METRICS_PORT" } as const;
    const metrics = metricsPort === null ? null : await http.serveMetrics(fetchMetrics, metricsAddress);
    if (metrics !== null) servers.push(metrics);
    return {
      url: urlOf(host, app.port),
      metricsUrl: metrics === null ? null : `${urlOf(host, metrics.port)}/metrics`,
      parts,
      admin: (operation, args) => executeAdmin(parts.admin, operation, args),
      stop(stopOptions = {}) {
        stopping ??= stop(parts, servers, stopOptions.drainMs ?? defaultDrainMs);
        return stopping;
      },
    };
  } catch (error) {
    for (const server of servers) await server.close({ drained: Promise.resolve(), withinMs: 0 });
    await parts.close();
    throw error;
  }
}

async function stop(parts: GatewayParts, servers: readonly HttpServer[], drainMs: number): Promise<void> {
  const drained = parts.drain(drainMs);
  await Promise.all(servers.map((server) => server.close({ drained, withinMs: drainMs + answerGraceMs })));
  await drained;
  await parts.close();
}

/** The app, whose requests begin in fair turns. */
function createFetch({ dependencies }: GatewayParts, http: HttpRuntime): Fetch {
  const app = createApp(dependencies);
  const starts = new FairStart();
  return async (request, env) => {
    // What asks whether this process lives is not to wait behind anybody.
    if (/^[^/]+\/\/[^/]+\/(?:healthz|readyz|metrics)$/.test(request.url)) return app.fetch(request, env);
    return starts.run(dependencies.holderOf(request, env), async () =>
      // It has waited for its turn, and its client may not have.
      http.hasClientLeft?.(env) === true ? clientGone() : app.fetch(request, env),
    );
  };
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

const noAssets: WebAssets = { read: async () => null };
