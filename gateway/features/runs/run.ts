import { changes, findings, runs } from "../../../drizzle/schema.ts";
import { makeChannelName } from "../../../shared/channel_name.ts";
import {
  monitorEventSchemas,
  monitorSchema,
  type Monitor,
  type MonitorEvents,
  type StoredMonitorStatus,
} from "../../../shared/schemas/monitor.ts";
import { scanEvents } from "../../../shared/scan_events.ts";
import { scanEventSchemas, scanSchema, type Scan } from "../../../shared/schemas/scan.ts";
import type { ScanResource } from "../../../shared/schemas/tenant_events.ts";
import type { Publisher } from "../../../shared/send_event.ts";
import type { SnapshotEvent } from "../../streaming/event_stream_definition.ts";
import { alsoToTenant, announcing, tenantChannel, type AnnounceOptions } from "../announce.ts";
import { toFields } from "../stored_rows.ts";

export type RunRow = typeof runs.$inferSelect;
export type RunKind = RunRow["kind"];

/** The table of which a run may have many rows, and the column that names the run. */
export const detailsOf = {
  scan: { table: findings, owner: findings.scanId },
  monitor: { table: changes, owner: changes.monitorId },
} as const;

type RunId = Pick<RunRow, "kind" | "id" | "tenantId">;

/** The channel of one run; the tenant is the run's own. */
export function runChannel({ kind, tenantId, id }: RunId): string {
  return makeChannelName(kind, tenantId, id);
}

/** Returns the run as the API shows it. */
export function toRun(row: RunRow): Scan | Monitor {
  return row.kind === "scan" ? toScan(row) : toMonitor(row);
}

/** Returns the event that a stream begins with. */
export function toSnapshot(row: RunRow): SnapshotEvent {
  return row.kind === "scan"
    ? { type: "scan.snapshot", data: toScanResource(row) }
    : { type: "monitor.snapshot", data: toMonitor(row) };
}

const shared = ({ kind, tenantId, id }: RunId) => ({
  monitor_id: id,
  tenant_id: tenantId,
  channel: runChannel({ kind, tenantId, id }),
  event_stream: `/api/v1/${kind}s/${id}/event-stream`,
});

export function toScan(row: RunRow): Scan {
  return toFields(scanSchema, { table: runs, row }, shared(row));
}

/** Returns the scan as the events of its tenant carry it: flat, its id also under the name that events have for it. */
export function toScanResource(row: RunRow): ScanResource {
  return { scan_id: row.id, ...toScan(row) };
}

export function toMonitor(row: RunRow): Monitor {
  return toFields(monitorSchema, { table: runs, row }, { ...shared(row), status: presentStatus(row) });
}

/** The payload of `monitor.updated`, after the producer's report. */
export function toMonitorUpdated(row: RunRow): MonitorEvents["monitor.updated"] {
  return toFields(monitorEventSchemas["monitor.updated"], { table: runs, row }, { monitor_id: row.id });
}

/** A monitor that was published as stale is read as stale. */
export function presentStatus(monitor: Pick<RunRow, "status" | "staleAt" | "staleFrom">): Monitor["status"] {
  const { status, staleAt, staleFrom } = monitor;
  const isSilent = staleAt !== null || (staleFrom !== null && Date.now() >= staleFrom.getTime());
  // The other statuses are those of scans.
  return status === "running" && isSilent ? "stale" : (status as StoredMonitorStatus);
}

/** Called by the code that ended the scan, and by nothing else. Never rejects. */
export function announceScanEnd(row: RunRow, options: AnnounceOptions): Promise<void> {
  const { publishScanEnd } = scanEvents(alsoToTenant(announcing(options)));
  const end = toFields(scanEventSchemas["scan.end"], { table: runs, row }, { scan_id: row.id });
  return publishScanEnd(runChannel(row), end);
}

/** Publishes on the tenant's stream that a run was deleted. Called after that: a later snapshot no longer has it. Never rejects. */
export function announceDeleted({ kind, id, tenantId }: RunId, options: AnnounceOptions): Promise<void> {
  const publisher = announcing(options);
  return kind === "scan"
    ? tenantEvents(publisher).publishScanDeleted(tenantChannel(tenantId), { scan_id: id })
    : monitorEvents(publisher).publishMonitorEnd(tenantChannel(tenantId), { monitor_id: id, reason: "deleted" });
}

/** The events that the gateway publishes of a monitor, each after it was stored. */
export const monitorEvents = ({ sendEvent }: Publisher) => ({
  publishMonitorStart: (channel: string, payload: MonitorEvents["monitor.start"]) =>
    sendEvent(channel, "monitor.start", payload),
  publishMonitorUpdated: (channel: string, payload: MonitorEvents["monitor.updated"]) =>
    sendEvent(channel, "monitor.updated", payload),
  publishMonitorError: (channel: string, payload: MonitorEvents["monitor.error"]) =>
    sendEvent(channel, "monitor.error", payload),
  publishMonitorEnd: (channel: string, payload: MonitorEvents["monitor.end"]) =>
    sendEvent(channel, "monitor.end", payload),
});

/** The events of a whole tenant, each after it was stored. The ends of scans and the events of monitors are their features' own. */
export const tenantEvents = ({ sendEvent }: Publisher) => ({
  publishScanCreated: (channel: string, payload: ScanResource) => sendEvent(channel, "scan.created", payload),
  publishScanUpdated: (channel: string, payload: ScanResource) => sendEvent(channel, "scan.updated", payload),
  publishScanDeleted: (channel: string, payload: { readonly scan_id: string }) =>
    sendEvent(channel, "scan.deleted", payload),
});
