import { openBroker } from "../../shared/brokers/open_broker.ts";
import type { BrokerConfig } from "../../shared/brokers/broker_config.ts";
import type { BrokerAdapter, DatabaseAdapter } from "../gateway_options.ts";
import type { GatewayConfig } from "../config.ts";
import { postgres } from "../library/postgres.ts";
import type { LocalState } from "../operator/local_state.ts";
import { embeddedDatabase } from "./embedded_database.ts";

/** The database that the configuration names. */
export function databaseOf({ databaseUrl }: GatewayConfig, state: LocalState): DatabaseAdapter {
  return databaseUrl === null ? embeddedDatabase(state) : postgres({ url: databaseUrl });
}

/** The broker that the configuration names; its client is loaded when it is opened. */
export function brokerOf(config: BrokerConfig): BrokerAdapter {
  return {
    async open() {
      if (config.kind !== "redis") return openBroker(config);
      const { redis } = await import("../library/redis.ts");
      return redis({ url: config.url, database: config.databaseNumber }).open();
    },
  };
}
