import { once } from "node:events";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { isAboveThePolicies } from "../../drizzle/transactions.ts";
import { pause } from "../../shared/abortable.ts";
import { isLoopback } from "../../shared/loopback.ts";
import { parseConfig, type GatewayConfig } from "../config.ts";
import { defaultTenantPercent } from "../limits.ts";
import { createLog, type Log } from "../observability/log.ts";
import type { HttpRuntime } from "./http_runtime.ts";
import { startGateway } from "./start_gateway.ts";
import { createEmbeddedFiles, createStaticFiles, webFolder } from "./static_files.ts";

/** From the closing of the port to the exit, even when a client or the database does not respond. */
const maxStopMs = 4800;

/**
 * The gateway on Node and on Deno: until `interrupted` aborts, then drained: not ready for `DRAIN_DELAY_SECONDS` or
 * until `skipDelay` aborts, then its port is closed and its streams end, within 5 s. Returns the exit code; rejects with
 * `UsageError` when it cannot start.
 */
export async function serve(io: GatewayIo, http: HttpRuntime): Promise<number> {
  const { env, interrupted, skipDelay, terminal } = io;
  const config = parseConfig(env);
  const log = createLog({ level: config.logLevel, write: (line) => terminal.write(line) });
  const webAssets = createEmbeddedFiles() ?? createStaticFiles(webFolder());
  const gateway = await startGateway({ http, config, log, webAssets, signal: interrupted });
  // People read it, and programs that wait for the gateway.
  io.stdout(`The gateway listens on ${gateway.url}\n`);
  if (gateway.metricsUrl !== null) io.stdout(`Metrics are on ${gateway.metricsUrl}\n`);
  const firstKey = await gateway.parts.firstKey();
  if (firstKey !== null) io.stdout(`The first API key, shown this once: ${firstKey}\n`);
  const database = config.databaseUrl === null ? "embedded" : "postgres";
  log.info({ url: gateway.url, broker: config.broker.kind, database, issuer: config.auth.kind }, "listening");
  // The log says at once what is wrong with the broker, also where nobody asks for /readyz.
  void gateway.parts.dependencies.readiness.check();
  const { broker } = config;
  if (broker.kind === "redis" && broker.ignoredDatabase !== null) {
    const { databaseNumber, ignoredDatabase } = broker;
    log.info({}, `database ${databaseNumber} (EVENTSTREAM_CACHE_DB) is used, not ${ignoredDatabase} of REDIS_URL`);
  }
  if (config.databaseUrl !== null && config.metricsPort === null) {
    log.warn({}, "METRICS_PORT is unset: a proxy on this machine that adds no X-Forwarded-For makes /metrics public");
  }
  if (config.databaseUrl !== null && (await isAboveThePolicies(gateway.parts.dependencies.database))) {
    log.warn({}, "DATABASE_URL: no row-level security binds its role: use one that owns nothing and is no superuser");
  }
  warnOfLimits(config, log);
  if (config.auth.kind === "local" && config.databaseUrl !== null) {
    log.warn({}, "no AUTH_JWKS_URL or AUTH_JWKS is set: only JWTs of the local development key are accepted");
  }
  if (!interrupted.aborted) await once(interrupted, "abort");
  const delaySeconds = skipDelay.aborted ? 0 : config.drainDelaySeconds;
  log.info({ delay_seconds: delaySeconds }, "draining");
  gateway.parts.announceDrain();
  // Load balancers have so long to notice it.
  await pause(delaySeconds * 1000, [skipDelay]);
  const stopped = new AbortController();
  await Promise.race([gateway.stop().finally(() => stopped.abort()), pause(maxStopMs, [stopped.signal])]);
  log.info({}, "stopped");
  return 0;
}

function warnOfLimits({ host, bounds, trustedProxyHops }: GatewayConfig, log: Log): void {
  if (bounds.tenantPercent > defaultTenantPercent || bounds.maxStreamsPerTenant * 4 > bounds.maxStreams) {
    log.warn(
      {},
      "one tenant may take more than a quarter of the limits: at its limits it may make another's requests fail",
    );
  }
  if (!isLoopback(host) && host !== "::1" && trustedProxyHops === null) {
    log.warn({}, "HOST is not this machine and TRUSTED_PROXY_HOPS is unset: only a proxy limits slow connections");
  }
}
