import { readGatewayAccess, type GatewayAccess } from "../../command_line/gateway_access.ts";
import { createEnvironmentReader, type Environment } from "../../shared/environment_reader.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { parseBrokerConfig, type BrokerConfig } from "../../shared/brokers/broker_config.ts";

/** Gateway and broker at which a scan is registered and published. */
export interface StreamConfig extends GatewayAccess {
  /** `memory`: none is named, so events go through the gateway. */
  readonly broker: BrokerConfig;
}

/** Null when no gateway is named. Throws `UsageError` naming every variable that is wrong, never its value. */
export function readStreamConfig(env: Environment): StreamConfig | null {
  const reader = createEnvironmentReader(env);
  const access = readGatewayAccess(reader);
  const isNamed = reader.text("SCANSTREAM_URL") !== null;
  const broker: BrokerConfig = isNamed ? parseBrokerConfig(reader) : { kind: "memory" };
  if (reader.problems.length > 0) throw new UsageError(reader.problems);
  return access === null ? null : { ...access, broker };
}
