import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { changes, findings, monitors, scans } from "../../../drizzle/schema.ts";
import { makeChannelName } from "../../../shared/channel_name.ts";
import {
  monitorEventSchemas,
  monitorSchema,
  type Monitor,
  type MonitorEvents,
} from "../../../shared/schemas/monitor.ts";
import { scanEvents } from "../../../shared/scan_events.ts";
import { scanEventSchemas, scanSchema, type Scan } from "../../../shared/schemas/scan.ts";
import type { ScanResource } from "../../../shared/schemas/tenant_events.ts";
import type { Publisher } from "../../../shared/send_event.ts";
import type { SnapshotEvent } from "../../streaming/event_stream_definition.ts";
import { alsoToTenant, announcing, tenantChannel, type AnnounceOptions } from "../announce.ts";
import { toFields } from "../stored_rows.ts";

/** A run looks at one organization. A scan ends by itself; a monitor goes on until somebody ends it. Both are stored alike. */

export type ScanRow = typeof scans.$inferSelect;
export type MonitorRow = typeof monitors.$inferSelect;
export type RunRow = ScanRow | MonitorRow;

export interface RunKind<Row extends RunRow> {
  /** Prefix of its channels, first part of its events' types, and what an error calls it. */
  readonly name: "scan" | "monitor";
  /** The table of this kind, typed as that of scans: only columns that both kinds have are used. */
  readonly table: typeof scans;
  /** The table of which a run may have many rows, and the column that names the run. */
  readonly details: { readonly table: PgTable; readonly owner: PgColumn };
  /** The status of one that is deleted before it has ended. */
  readonly deletedStatus: ScanRow["status"];
  /** Returns the run as the API shows it. */
  readonly toResource: (row: Row) => object;
  /** Returns the event that a stream begins with. */
  readonly toSnapshot: (row: Row) => SnapshotEvent;
}

export type AnyRunKind = Omit<RunKind<RunRow>, "toResource" | "toSnapshot">;

export const scanKind: RunKind<ScanRow> = {
  name: "scan",
  table: scans,
  details: { table: findings, owner: findings.scanId },
  deletedStatus: "cancelled",
  toResource: toScan,
  toSnapshot: (row) => ({ type: "scan.snapshot", data: toScanResource(row) }),
};

export const monitorKind: RunKind<MonitorRow> = {
  name: "monitor",
  table: monitors as unknown as typeof scans,
  details: { table: changes, owner: changes.monitorId },
  deletedStatus: "ended" as ScanRow["status"],
  toResource: toMonitor,
  toSnapshot: (row) => ({ type: "monitor.snapshot", data: toMonitor(row) }),
};

type RunId = Pick<RunRow, "id" | "tenantId">;

/** The channel of one run; the tenant is the run's own. */
export function runChannel({ name }: AnyRunKind, { tenantId, id }: RunId): string {
  return makeChannelName(name, tenantId, id);
}

const shared = (kind: AnyRunKind, { tenantId, id }: RunId) => ({
  tenant_id: tenantId,
  channel: runChannel(kind, { tenantId, id }),
  event_stream: `/api/v1/${kind.name}s/${id}/event-stream`,
});

export function toScan(row: ScanRow): Scan {
  return toFields(scanSchema, { table: scans, row }, shared(scanKind, row));
}

/** Returns the scan as the events of its tenant carry it: flat, its id also under the name that events have for it. */
export function toScanResource(row: ScanRow): ScanResource {
  return { scan_id: row.id, ...toScan(row) };
}

export function toMonitor(row: MonitorRow): Monitor {
  const more = { ...shared(monitorKind, row), monitor_id: row.id, status: presentStatus(row) };
  return toFields(monitorSchema, { table: monitors, row }, more);
}

/** The payload of `monitor.updated`, after the producer's report. */
export function toMonitorUpdated(row: MonitorRow): MonitorEvents["monitor.updated"] {
  return toFields(monitorEventSchemas["monitor.updated"], { table: monitors, row }, { monitor_id: row.id });
}

/** A monitor that was published as stale is read as stale. */
export function presentStatus(monitor: Pick<MonitorRow, "status" | "staleAt" | "staleFrom">): Monitor["status"] {
  const { status, staleAt, staleFrom } = monitor;
  const isSilent = staleAt !== null || (staleFrom !== null && Date.now() >= staleFrom.getTime());
  return status === "running" && isSilent ? "stale" : status;
}

/** Called by the code that ended the scan, and by nothing else. Never rejects. */
export function announceScanEnd(row: ScanRow, options: AnnounceOptions): Promise<void> {
  const { publishScanEnd } = scanEvents(alsoToTenant(announcing(options)));
  const end = toFields(scanEventSchemas["scan.end"], { table: scans, row }, { scan_id: row.id });
  return publishScanEnd(runChannel(scanKind, row), end);
}

/** Publishes on the tenant's stream that a run was deleted. Called after that: a later snapshot no longer has it. Never rejects. */
export function announceDeleted(
  { name }: AnyRunKind,
  { id, tenantId }: RunId,
  options: AnnounceOptions,
): Promise<void> {
  const publisher = announcing(options);
  return name === "scan"
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
