import { neon } from "scanstream/gateway/neon";
import { upstash } from "scanstream/gateway/upstash";
import { createWorker, type WorkerOptions } from "scanstream/gateway/worker";
import { features } from "./features.ts";

type Secret = "DATABASE_URL" | "UPSTASH_REDIS_REST_URL" | "UPSTASH_REDIS_REST_TOKEN" | "STREAM_TOKEN_SECRET";
type Environment = Readonly<Record<Secret, string>> & { readonly STREAMS: WorkerOptions["streams"] };

const { worker, StreamsObject } = createWorker((env: Environment) => ({
  features,
  database: neon({ url: env.DATABASE_URL }),
  broker: upstash({ url: env.UPSTASH_REDIS_REST_URL, token: env.UPSTASH_REDIS_REST_TOKEN }),
  streamTokenSecret: env.STREAM_TOKEN_SECRET,
  streams: env.STREAMS,
}));
export { StreamsObject };
export default worker;
