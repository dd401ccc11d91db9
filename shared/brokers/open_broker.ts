import type { Broker } from "../broker.ts";
import type { BrokerConfig } from "./broker_config.ts";

/**
 * Loads only the adapter that it opens: the client of Redis is a tenth of a gateway's start and memory. Apart from `broker_config.ts`,
 * because the client's types bring Node's, which portable code must not see.
 */
export async function openBroker(config: BrokerConfig): Promise<Broker> {
  if (config.kind === "memory") return (await import("./memory.ts")).createMemoryBroker();
  const { url, databaseNumber: database } = config;
  if (config.kind === "redis") return (await import("./redis.ts")).createRedisBroker({ url, database });
  return (await import("./upstash.ts")).createUpstashBroker({ url, token: config.token, database });
}
