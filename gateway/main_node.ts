import type { GatewayIo } from "./commands.ts";
import { parseConfig } from "./config.ts";
import { createPinoLog } from "./pino_log.ts";
import { startGateway } from "./start_gateway.ts";
import { createStaticFiles } from "./static_files.ts";
import { webFolder } from "./web_folder.ts";

/**
 * `scanstream serve`: the gateway on Node until `interrupted` aborts, then drained. Returns the exit code; rejects with
 * `ConfigError` when it cannot start.
 */
export async function serve({ env, stdout, terminal, interrupted }: GatewayIo): Promise<number> {
  const config = parseConfig(env);
  const log = createPinoLog({ level: "info", write: (line) => terminal.write(line) });
  const webAssets = createStaticFiles(webFolder());
  const gateway = await startGateway({ config, log, webAssets, signal: interrupted });
  stdout(`The gateway listens on ${gateway.url}\n`);
  if (gateway.metricsUrl !== null) stdout(`Metrics are on ${gateway.metricsUrl}\n`);
  log.info(
    {
      url: gateway.url,
      broker: config.broker.kind,
      database: config.databaseUrl === null ? "embedded" : "postgres",
      issuer: config.auth.kind,
    },
    "listening",
  );
  if (config.auth.kind === "local" && config.databaseUrl !== null) {
    log.warn({}, "no AUTH_JWKS_URL or AUTH_JWKS is set: only JWTs of the local development key are accepted");
  }
  await aborted(interrupted);
  log.info({}, "draining");
  await gateway.stop();
  log.info({}, "stopped");
  return 0;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
