import type { Publisher } from "./broker.ts";
import { makeChannelName } from "./channel_name.ts";
import type { Coverage, Severity, Status } from "./report.ts";
import { sendEvent } from "./send_event.ts";

/** The events of a scan, published by the scanner and (for an expired scan) by the gateway. One function an event. */

export type ScanEndStatus = "completed" | "cancelled" | "failed" | "expired";

export interface ScanStart {
  readonly scan_id: string;
  readonly checks_total: number;
}

export interface ScanProgress {
  readonly scan_id: string;
  readonly checks_done: number;
  readonly checks_total: number;
  readonly check: string;
  readonly status: Status;
}

export interface FindingCreated {
  readonly scan_id: string;
  readonly check: string;
  readonly status: Status;
  readonly severity: Severity;
  readonly resource_name: string;
  readonly detail: string;
  readonly fingerprint: string;
  /** `partial`: a PASS that is narrower than its rule; what it leaves open is read from the stored finding. */
  readonly coverage?: Coverage;
  /** Does not count for the check's status. */
  readonly advisory?: boolean;
}

export interface ScanError {
  readonly scan_id: string;
  readonly code: string;
  readonly detail: string;
}

export interface ScanEnd {
  readonly scan_id: string;
  readonly status: ScanEndStatus;
  readonly pass: number;
  readonly fail: number;
  readonly manual: number;
}

/** The event map of a scan's stream, for `subscribe<ScanEvents>`. */
export interface ScanEvents {
  readonly "scan.start": ScanStart;
  readonly "scan.progress": ScanProgress;
  readonly "finding.created": FindingCreated;
  readonly "scan.error": ScanError;
  readonly "scan.end": ScanEnd;
}

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
