import { scanstreamFeatures } from "../features/scanstream_features.ts";
import { neon } from "../library/neon.ts";
import { upstash } from "../library/upstash.ts";
import { createLog } from "../observability/log.ts";
import { createWorker } from "./worker/create_worker.ts";
import { parseWorkerConfig } from "./worker/worker_config.ts";
import type { WorkerEnvironment } from "./worker/worker_options.ts";

/** The gateway on Cloudflare Workers; `wrangler.toml` says what is bound to it. */
const { worker, StreamsObject } = createWorker((environment: WorkerEnvironment) => {
  const { gateway, databaseUrl, databaseHttpUrl, ...config } = parseWorkerConfig(environment);
  const { auth, bounds, corsOrigins, signIn } = gateway;
  return {
    features: scanstreamFeatures(gateway),
    database: neon({ url: databaseUrl, endpoint: databaseHttpUrl ?? undefined }),
    broker: upstash(config.upstash),
    ...(auth.kind !== "local" && { auth }),
    bounds,
    corsOrigins,
    signIn,
    streamTokenSecret: config.streamTokenSecret,
    shardsPerTenant: config.shardsPerTenant,
    streams: environment.STREAMS,
    assets: environment.ASSETS,
    log: createLog({ level: gateway.logLevel }),
  };
});

export { StreamsObject };
export default worker;
