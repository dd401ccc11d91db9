import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { checkOptions, optionalNumber, someText } from "../check_options.ts";
import type { BrokerAdapter } from "../gateway_options.ts";

export interface RedisOptions {
  /** `redis://host:6379`, or sentinels: `redis+sentinel://host:26379,host:26379/name`. */
  readonly url: string;
  /** Default 2. A number in the URL does not count. */
  readonly database?: number;
}

/** Redis over TCP, on Node and Deno. */
export function redis(options: RedisOptions): BrokerAdapter {
  checkOptions("redis", { url: someText, database: optionalNumber }, options);
  const { url, database = 2 } = options;
  return { open: () => createRedisBroker({ url, database }) };
}
