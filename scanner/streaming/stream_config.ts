import { createEnvironmentReader, type Environment } from "../../shared/environment_reader.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { parseBrokerConfig, type BrokerConfig } from "../../shared/brokers/broker_config.ts";

/** Where a scan is registered and published. */
export interface StreamConfig {
  readonly gatewayUrl: string;
  readonly apiKey: string;
  /** `memory`: none is named, so events go through the gateway. */
  readonly broker: BrokerConfig;
}

/** Null when no gateway is named. Throws `UsageError` naming every variable that is wrong, never its value. */
export function readStreamConfig(env: Environment): StreamConfig | null {
  const reader = createEnvironmentReader(env);
  const gatewayUrl = reader.url("SCANSTREAM_URL", ["https:", "http:"], "https://scanstream.example.com");
  const apiKey = reader.pattern("SCANSTREAM_API_KEY", /^[\x21-\x7e]+$/, "a key as admin api-key create shows it");
  const isNamed = reader.text("SCANSTREAM_URL") !== null;
  const hasKey = reader.text("SCANSTREAM_API_KEY") !== null;
  if (isNamed && !hasKey) {
    reader.report(
      "SCANSTREAM_API_KEY: required with SCANSTREAM_URL: expected a key of that gateway (admin api-key create)",
    );
  }
  if (hasKey && !isNamed) {
    reader.report("SCANSTREAM_URL: required with SCANSTREAM_API_KEY: expected the address of the key's gateway");
  }
  const broker: BrokerConfig = isNamed ? parseBrokerConfig(reader) : { kind: "memory" };
  if (reader.problems.length > 0) throw new UsageError(reader.problems);
  return gatewayUrl === null || apiKey === null ? null : { gatewayUrl, apiKey, broker };
}
