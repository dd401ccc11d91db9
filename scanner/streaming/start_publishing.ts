import { randomUUID } from "node:crypto";
import type { Publisher } from "../../shared/broker.ts";
import { createGatewayClient, type ScanBody } from "./gateway_client.ts";
import { createScanPublisher, type ScanPublisher } from "./scan_publisher.ts";
import type { BrokerConfig } from "../../shared/brokers/broker_config.ts";
import type { StreamConfig } from "./stream_config.ts";
import { createGatewayBroker } from "../../shared/brokers/gateway_broker.ts";

/** For one call: a gateway that takes longer is treated as away, and asked again. */
const callTimeoutMs = 4000;

/** Registers the scan in the background and publishes it from then on; the scan itself never waits for it. */
export function openStream(
  config: StreamConfig,
  scan: ScanBody,
  tell: {
    /** Something is wrong: also with `--quiet`. */
    readonly warn: (message: string) => void;
    readonly inform: (message: string) => void;
  },
): ScanPublisher {
  const { gatewayUrl, apiKey, broker } = config;
  return createScanPublisher({
    gateway: createGatewayClient({ url: gatewayUrl, apiKey, timeoutMs: callTimeoutMs }),
    publisher:
      broker.kind === "memory"
        ? createGatewayBroker({ url: gatewayUrl, apiKey, timeoutMs: callTimeoutMs })
        : lazyPublisher(broker),
    scanId: randomUUID(),
    scan,
    warn: tell.warn,
    onRegistered: ({ id }) => tell.inform(`Streaming as scan ${id} at ${new URL(gatewayUrl).origin}/#/scans/${id}`),
  });
}

type NamedBroker = Exclude<BrokerConfig, { readonly kind: "memory" }>;

/** Only a run that publishes straight to a broker loads that broker's client. */
function lazyPublisher(config: NamedBroker): Publisher {
  let opened: Promise<Publisher> | null = null;
  return {
    async publish(channel, message) {
      opened ??= open(config);
      await (await opened).publish(channel, message);
    },
  };
}

async function open(config: NamedBroker): Promise<Publisher> {
  if (config.kind === "redis") {
    const { createRedisBroker } = await import("../../shared/brokers/redis.ts");
    return createRedisBroker({ url: config.url, database: config.databaseNumber });
  }
  const { createUpstashBroker } = await import("../../shared/brokers/upstash.ts");
  return createUpstashBroker({ url: config.url, token: config.token, database: config.databaseNumber });
}
