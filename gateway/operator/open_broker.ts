import type { Broker } from "../../shared/broker.ts";
import type { BrokerConfig } from "../../shared/brokers/broker_config.ts";
import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import { settingsError } from "../config.ts";

/**
 * Loads only the adapter that it opens: the client of Redis is a tenth of a gateway's start and memory. Rejects with
 * `UsageError` for an address that cannot be used.
 */
export async function openBroker(config: BrokerConfig): Promise<Broker> {
  if (config.kind === "memory") return createMemoryBroker();
  const { databaseNumber: database, url } = config;
  try {
    if (config.kind === "redis") {
      return (await import("../../shared/brokers/redis.ts")).createRedisBroker({ url, database });
    }
    return (await import("../../shared/brokers/upstash.ts")).createUpstashBroker({
      url,
      token: config.token,
      database,
    });
  } catch (error) {
    // The adapters check their addresses again, and name the variable.
    if (error instanceof TypeError || error instanceof RangeError) throw settingsError([error.message]);
    throw error;
  }
}
