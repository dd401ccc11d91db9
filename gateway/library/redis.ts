import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { AppError } from "../../shared/app_error.ts";
import type { Broker } from "../../shared/broker.ts";
import { withTimeout } from "../../shared/with_timeout.ts";
import { checkOptions, optionalNumber, someText } from "../check_options.ts";
import type { BrokerAdapter } from "../gateway_options.ts";
import { settingsError } from "../../shared/usage_error.ts";

export interface RedisOptions {
  /** `redis://host:6379`, or sentinels: `redis+sentinel://host:26379,host:26379/name`. */
  readonly url: string;
  /** Default 2. A number in the URL does not count. */
  readonly database?: number;
}

/** How long a start waits for Redis: whatever else is wrong with it may pass, and is said by `/readyz`. */
const startPingMs = 2000;

/** Redis over TCP, on Node and Deno. */
export function redis(options: RedisOptions): BrokerAdapter {
  checkOptions("redis", { url: someText, database: optionalNumber }, options);
  const { url, database = 2 } = options;
  return {
    async open() {
      const broker = open({ url, database });
      try {
        await requireDatabase(broker, database);
        return broker;
      } catch (error) {
        await broker.close();
        throw error;
      }
    },
  };
}

function open(options: Required<RedisOptions>): Broker {
  try {
    return createRedisBroker(options);
  } catch (error) {
    // It names the variable.
    if (error instanceof TypeError || error instanceof RangeError) throw settingsError(error.message);
    throw error;
  }
}

/** Rejects with `UsageError` for a database that Redis does not have: every stream would be 503 for ever. */
async function requireDatabase(broker: Broker, database: number): Promise<void> {
  const failure: unknown = await withTimeout(broker.ping(), startPingMs).catch((error: unknown) => error);
  if (!(failure instanceof AppError) || !failure.message.includes("EVENTSTREAM_CACHE_DB")) return;
  throw settingsError(`EVENTSTREAM_CACHE_DB: Redis has no database ${database}`);
}
