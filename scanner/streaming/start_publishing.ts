import { randomUUID } from "node:crypto";
import { readGatewayAccess, type GatewayAccess } from "../../command_line/gateway_access.ts";
import { parseBrokerConfig, type BrokerConfig } from "../../shared/brokers/broker_config.ts";
import { openBroker } from "../../shared/brokers/open_broker.ts";
import { createEnvironmentReader, type Environment } from "../../shared/environment_reader.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { openGateway } from "../../shared/client/gateway_client.ts";
import type { NewScan } from "../../shared/schemas/scan.ts";
import type { FollowParts } from "../follow/follow_plan.ts";
import { createMonitorPublisher } from "./monitor_publisher.ts";
import { createScanPublisher, type ScanPublisher } from "./scan_publisher.ts";

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

/** Bound on one call: a gateway that takes longer counts as unavailable, and the call is retried. */
const callTimeoutMs = 4000;

interface Messages {
  /** Also with `--quiet`. */
  readonly warn: (message: string) => void;
  readonly info: (message: string) => void;
}

/** Registers the scan in the background and publishes it from then on; the scan never waits for it. */
export async function startPublishing(
  { url, apiKey, broker }: StreamConfig,
  scan: Required<NewScan>,
  log: Messages,
): Promise<ScanPublisher> {
  const isDirect = broker.kind !== "memory";
  if (isDirect) {
    log.warn(
      "The gateway stores no findings of this scan, and counts none: events go straight to the broker of REDIS_URL or UPSTASH_REDIS_REST_URL. Unset it to store them",
    );
  }
  return createScanPublisher({
    gateway: openGateway({ url, apiKey, timeoutMs: callTimeoutMs }),
    ...(isDirect && { broker: await openBroker(broker) }),
    scanId: randomUUID(),
    scan,
    warn: log.warn,
    onRegistered: ({ id }) => log.info(`Streaming as scan ${id} at ${new URL(url).origin}/#/scans/${id}`),
  });
}

/** Opens the publisher of a follower; null: it is not streamed. */
export function monitorOpener(config: StreamConfig | null, log: Messages): FollowParts["openMonitor"] {
  if (config === null) return null;
  const { url, apiKey } = config;
  const gateway = openGateway({ url, apiKey, timeoutMs: callTimeoutMs });
  return (followed) =>
    createMonitorPublisher(
      {
        gateway,
        warn: log.warn,
        onRegistered: ({ id }) => log.info(`Live as monitor ${id} at ${new URL(url).origin}/#/monitors/${id}`),
      },
      followed,
    );
}
