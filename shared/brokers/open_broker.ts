import type { Broker } from "../broker.ts";
import { UsageError } from "../usage_error.ts";
import type { BrokerConfig } from "./broker_config.ts";

/**
 * Loads only the adapter that it opens: the client of Redis is a tenth of a gateway's start and memory. Rejects with
 * `UsageError` for an address that cannot be used.
 */
export async function openBroker(config: BrokerConfig): Promise<Broker> {
  if (config.kind === "memory") return (await import("./memory.ts")).createMemoryBroker();
  const { url, databaseNumber: database } = config;
  try {
    if (config.kind === "redis") return (await import("./redis.ts")).createRedisBroker({ url, database });
    return (await import("./upstash.ts")).createUpstashBroker({ url, token: config.token, database });
  } catch (error) {
    // The adapters check their addresses again, and name the variable.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw new UsageError([error.message], { heading: "Cannot use the configuration" });
  }
}
