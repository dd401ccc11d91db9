import { pause } from "../../shared/abortable.ts";
import { createApp } from "../app.ts";
import { parseConfig, settingsError } from "../config.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Environment } from "../../shared/environment_reader.ts";
import { createLog } from "../observability/log.ts";
import { parseTracesConfig } from "./traces_config.ts";
import { answerGraceMs, defaultDrainMs, Interruption, leave } from "./draining.ts";
import { openGatewayParts, respondMetrics, type GatewayParts } from "./gateway_parts.ts";
import { problemResponse } from "../http/problem.ts";
import { createStaticFiles } from "./static_files.ts";
import { webFolder } from "./web_folder.ts";

/**
 * The gateway on Deno, until SIGINT or SIGTERM, then drained. `npm run start:deno` gives it the least permissions: it reads only
 * the variables that are listed there.
 */
async function main(): Promise<number> {
  const { interrupted, skipDelay } = listenToSignals();
  // Read one by one: the permission is for each.
  const environment: Environment = new Proxy({}, { get: (_, name) => Deno.env.get(String(name)) });
  const config = parseConfig(environment);
  const log = createLog();
  const parts = await openGatewayParts({
    config,
    log,
    webAssets: createStaticFiles(webFolder()),
    peerAddress,
    traces: parseTracesConfig(environment),
    signal: interrupted,
  });
  const servers: Deno.HttpServer[] = [];
  try {
    const app = createApp(parts.dependencies);
    servers.push(listen({ hostname: config.host, port: config.port, name: "The gateway listens" }, app.fetch));
    if (config.metricsPort !== null) {
      const address = { hostname: config.host, port: config.metricsPort, name: "Metrics are" };
      servers.push(listen(address, (request) => respondMetrics(parts.metricsText, request)));
    }
    if (!interrupted.aborted) {
      await new Promise((resolve) => interrupted.addEventListener("abort", resolve, { once: true }));
    }
    const delaySeconds = skipDelay.aborted ? 0 : config.drainDelaySeconds;
    log.info({ delay_seconds: delaySeconds }, "draining");
    await leave({
      announceDrain: () => parts.announceDrain(),
      delaySeconds,
      skipDelay,
      stop: () => stop(parts, servers),
    });
    log.info({}, "stopped");
    return 0;
  } catch (error) {
    await parts.close();
    throw error;
  }
}

function listenToSignals(): Interruption {
  const interruption = new Interruption();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      if (!interruption.receive(signal)) Deno.exit(130);
    });
  }
  return interruption;
}

interface ListenAddress {
  readonly hostname: string;
  readonly port: number;
  /** The subject of the line that announces the address. */
  readonly name: string;
}

type Fetch = (request: Request, info: Deno.ServeHandlerInfo) => Response | Promise<Response>;

function listen({ hostname, port, name }: ListenAddress, fetch: Fetch): Deno.HttpServer {
  try {
    return Deno.serve(
      {
        hostname,
        port,
        onListen: (address) => {
          const host = address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname;
          console.log(`${name} on http://${host}:${address.port}`);
        },
        onError: (error) => problemResponse(error),
      },
      fetch,
    );
  } catch (cause) {
    const variable = name.startsWith("Metrics") ? "METRICS_PORT" : "PORT";
    if (cause instanceof Deno.errors.AddrInUse) {
      throw settingsError([`${variable}: expected a free port: another program listens on it already`], { cause });
    }
    throw cause;
  }
}

/** `shutdown` closes the port at once and waits for what is being answered, and so for the streams. */
async function stop(parts: GatewayParts, servers: readonly Deno.HttpServer[]): Promise<void> {
  const closed = Promise.all(servers.map((server) => server.shutdown()));
  const drained = parts.drain(defaultDrainMs).then(() => closed);
  await Promise.race([drained, pause(defaultDrainMs + answerGraceMs, [])]);
  await parts.close();
}

/** `env` is what `Deno.serve` hands to `fetch`. */
function peerAddress(env: unknown): string | null {
  if (typeof env !== "object" || env === null || !("remoteAddr" in env)) return null;
  const { remoteAddr } = env;
  if (typeof remoteAddr !== "object" || remoteAddr === null || !("hostname" in remoteAddr)) return null;
  return typeof remoteAddr.hostname === "string" ? remoteAddr.hostname : null;
}

if (import.meta.main) {
  try {
    Deno.exit(await main());
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    Deno.exit(2);
  }
}
