import { randomUUID } from "node:crypto";
import type { MessagePublisher } from "../../shared/broker.ts";
import type { MonitorPort } from "../follow/follow_plan.ts";
import { createGatewayClient } from "../../shared/client/gateway_client.ts";
import type { NewScan } from "../../shared/schemas/scan_requests.ts";
import { createMonitorPublisher, type MonitorPublisher } from "./monitor_publisher.ts";
import { createScanPublisher, type ScanPublisher } from "./scan_publisher.ts";
import type { BrokerConfig } from "../../shared/brokers/broker_config.ts";
import { openBroker } from "../../shared/brokers/open_broker.ts";
import type { StreamConfig } from "./stream_config.ts";

/** Bound on one call: a gateway that takes longer counts as unavailable, and the call is retried. */
const callTimeoutMs = 4000;

/** Registers the scan in the background and publishes it from then on; the scan never waits for it. */
export function startPublishing(
  config: StreamConfig,
  scan: Required<NewScan>,
  log: {
    /** Also with `--quiet`. */
    readonly warn: (message: string) => void;
    readonly info: (message: string) => void;
  },
): ScanPublisher {
  const { gatewayUrl, apiKey, broker } = config;
  return createScanPublisher({
    gateway: createGatewayClient({ url: gatewayUrl, apiKey, timeoutMs: callTimeoutMs }),
    ...(broker.kind !== "memory" && { broker: lazyBroker(broker) }),
    scanId: randomUUID(),
    scan,
    warn: log.warn,
    onRegistered: ({ id }) => log.info(`Streaming as scan ${id} at ${new URL(gatewayUrl).origin}/#/scans/${id}`),
  });
}

/** The follower as others see it, at a gateway, which stores and publishes its changes; null: it is not streamed. */
export function createMonitor(
  config: StreamConfig | null,
  { log, isQuiet }: { readonly log: (text: string) => void; readonly isQuiet: boolean },
): MonitorPort {
  if (config === null) return noMonitor;
  const { gatewayUrl, apiKey } = config;
  let publisher: MonitorPublisher | null = null;
  return {
    started(facts) {
      publisher = createMonitorPublisher({
        gateway: createGatewayClient({ url: gatewayUrl, apiKey, timeoutMs: callTimeoutMs }),
        monitorId: facts.monitorId,
        warn: log,
        onRegistered(monitor) {
          if (!isQuiet) log(`Live as monitor ${monitor.id} at ${new URL(gatewayUrl).origin}/#/monitors/${monitor.id}`);
          facts.onRegistered(monitor);
        },
      });
      publisher.started(facts);
    },
    polled: (poll) => publisher?.polled(poll),
    changed: (lines) => publisher?.changed(lines),
    stopped: async () => publisher?.stopped(),
    ended: async (reason) => publisher?.ended(reason),
  };
}

/** Nobody stores anything. */
const noMonitor: MonitorPort = {
  started() {},
  polled() {},
  changed: (lines) => lines.settle(lines.first(Number.POSITIVE_INFINITY)),
  async stopped() {},
  async ended() {},
};

/** Loads the broker's client only in a run that publishes to it. */
function lazyBroker(config: BrokerConfig): MessagePublisher {
  let broker: Promise<MessagePublisher> | null = null;
  return {
    async publish(channel, message) {
      broker ??= openBroker(config);
      await (await broker).publish(channel, message);
    },
  };
}
