import type { Publisher } from "./broker.ts";
import { makeChannelName } from "./channel_name.ts";
import type { FindingCreated, ScanEnd, ScanError, ScanProgress, ScanStart } from "./schemas/scan_events.ts";
import { sendEvent } from "./send_event.ts";

/** The events of a scan: the scanner publishes them, and the gateway the end. One function an event. */

export type * from "./schemas/scan_events.ts";
export type { ScanEndStatus } from "./schemas/scan.ts";

export const scanPrefix = "scan";

/** The channel of one scan; `tenantId` is the scan's own tenant. */
export function scanChannel(tenantId: string, scanId: string): string {
  return makeChannelName(scanPrefix, tenantId, scanId);
}

export function publishScanStart(publisher: Publisher, channel: string, payload: ScanStart): Promise<void> {
  return sendEvent(publisher, channel, "scan.start", payload);
}

export function publishScanProgress(publisher: Publisher, channel: string, payload: ScanProgress): Promise<void> {
  return sendEvent(publisher, channel, "scan.progress", payload);
}

export function publishFindingCreated(publisher: Publisher, channel: string, payload: FindingCreated): Promise<void> {
  return sendEvent(publisher, channel, "finding.created", payload);
}

export function publishScanError(publisher: Publisher, channel: string, payload: ScanError): Promise<void> {
  return sendEvent(publisher, channel, "scan.error", payload);
}

export function publishScanEnd(publisher: Publisher, channel: string, payload: ScanEnd): Promise<void> {
  return sendEvent(publisher, channel, "scan.end", payload);
}
