import { scanstreamFeatures } from "../features/scanstream_features.ts";
import { neon } from "../library/neon.ts";
import { upstash } from "../library/upstash.ts";
import { createLog } from "../observability/log.ts";
import { createWorker } from "./worker/create_worker.ts";
import { parseWorkerConfig } from "./worker/worker_config.ts";
import type { WorkerEnvironment } from "./worker/worker_options.ts";

/** The gateway on Cloudflare Workers; `wrangler.toml` says what is bound to it. */
const { worker, StreamsObject } = createWorker((environment: WorkerEnvironment) => {
  const config = parseWorkerConfig(environment);
  const { auth, bounds, broker, corsOrigins, signIn, streamTokenSecret, shardsPerTenant } = config;
  return {
    features: scanstreamFeatures(config),
    database: neon({ url: config.databaseUrl, endpoint: config.databaseHttpUrl ?? undefined }),
    broker: upstash({ url: broker.url, token: broker.token, database: broker.databaseNumber }),
    ...(auth.kind !== "local" && { auth }),
    bounds,
    corsOrigins,
    signIn,
    streamTokenSecret,
    shardsPerTenant,
    streams: environment.STREAMS,
    assets: environment.ASSETS,
    log: createLog({ level: config.logLevel }),
  };
});

export { StreamsObject };
export default worker;
