import { AppError } from "../../shared/app_error.ts";
import type { ProcessGateway } from "../create_gateway.ts";
import { methodRefused, problemResponse } from "../http/problem.ts";
import type { HttpRuntime, HttpServer, ListenAddress } from "./http_runtime.ts";

/** How long the closing of streams is spread. */
const defaultDrainMs = 3000;
/** After the last stream was closed: for its last bytes, and for requests that are still being answered. */
const answerGraceMs = 1500;

export interface ServeOptions {
  readonly http: HttpRuntime;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** A port for `/metrics` alone; null: none. */
  readonly metricsPort: number | null;
  readonly names?: ListenAddress["names"];
}

const variables = { host: "HOST", port: "PORT" };

/** Gives a gateway its ports. Rejects with `UsageError` for an address that cannot be listened on; then the gateway is closed. */
export async function serveGateway(gateway: ProcessGateway, options: ServeOptions) {
  const { http, host, port, metricsPort, names = variables } = options;
  gateway.serveOver(http);
  const servers: HttpServer[] = [];
  let stopping: Promise<void> | null = null;
  try {
    const app = await http.serve(gateway.fetch, { host, port, names, isForClients: true });
    servers.push(app);
    const metricsNames = { ...names, port: "METRICS_PORT" };
    const metricsAddress = { host, port: metricsPort ?? 0, names: metricsNames, isForClients: false };
    const fetchMetrics = (request: Request) => respondMetrics(gateway, request);
    const metrics = metricsPort === null ? null : await http.serve(fetchMetrics, metricsAddress);
    if (metrics !== null) servers.push(metrics);
    return {
      /** Without a slash at its end. */
      url: urlOf(host, app.port),
      /** Address of `/metrics`, when it has its own port. */
      metricsUrl: metrics === null ? null : `${urlOf(host, metrics.port)}/metrics`,
      /** Closes the port, then the streams one by one over this time, then releases everything. A second call waits for the first. */
      stop({ drainMs = defaultDrainMs }: { readonly drainMs?: number } = {}): Promise<void> {
        stopping ??= stop(gateway, servers, drainMs);
        return stopping;
      },
    };
  } catch (error) {
    for (const server of servers) await server.close({ drained: Promise.resolve(), withinMs: 0 });
    await gateway.close();
    throw error;
  }
}

async function stop(gateway: ProcessGateway, servers: readonly HttpServer[], drainMs: number): Promise<void> {
  const drained = gateway.drain(drainMs);
  await Promise.all(servers.map((server) => server.close({ drained, withinMs: drainMs + answerGraceMs })));
  await drained;
  await gateway.close();
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The handler of `METRICS_PORT`. */
async function respondMetrics({ metricsText }: ProcessGateway, request: Request): Promise<Response> {
  if (new URL(request.url).pathname !== "/metrics") throw new AppError("not_found", "No such path");
  if (!["GET", "HEAD"].includes(request.method)) {
    return problemResponse(methodRefused(request.method, ["GET", "HEAD"]));
  }
  const { body, contentType } = await metricsText.read();
  return new Response(body, { headers: { "content-type": contentType } });
}
