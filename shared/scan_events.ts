import { makeChannelName } from "./channel_name.ts";
import type { FindingCreated, ScanEnd, ScanError, ScanProgress, ScanStart } from "./schemas/scan.ts";
import type { Publisher } from "./send_event.ts";

export const scanPrefix = "scan";

/** The channel of one scan; `tenantId` is the scan's own tenant. */
export function scanChannel(tenantId: string, scanId: string): string {
  return makeChannelName(scanPrefix, tenantId, scanId);
}

/** The events of a scan, for any publisher; the gateway alone publishes the end. */
export const scanEvents = ({ sendEvent }: Publisher) => ({
  publishScanStart: (channel: string, payload: ScanStart) => sendEvent(channel, "scan.start", payload),
  publishScanProgress: (channel: string, payload: ScanProgress) => sendEvent(channel, "scan.progress", payload),
  publishFindingCreated: (channel: string, payload: FindingCreated) => sendEvent(channel, "finding.created", payload),
  publishScanError: (channel: string, payload: ScanError) => sendEvent(channel, "scan.error", payload),
  publishScanEnd: (channel: string, payload: ScanEnd) => sendEvent(channel, "scan.end", payload),
});
