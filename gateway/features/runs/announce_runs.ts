import { scans } from "../../../drizzle/schema.ts";
import { readOne } from "../../../drizzle/transactions.ts";
import { scanEvents } from "../../../shared/scan_events.ts";
import type { MonitorEvents } from "../../../shared/schemas/monitor.ts";
import { scanEventSchemas } from "../../../shared/schemas/scan.ts";
import type { ScanResource } from "../../../shared/schemas/tenant_events.ts";
import type { Publisher } from "../../../shared/send_event.ts";
import { alsoToTenant, announcePaced, announcing, tenantChannel, type AnnounceOptions } from "../announce.ts";
import type { FeatureDependencies } from "../features.ts";
import { toFields } from "../stored_fields.ts";
import { runChannel, scanKind, toScanResource, type AnyRunKind, type RunRow, type ScanRow } from "./run.ts";
import { scanStore } from "./store.ts";

type Run = Pick<RunRow, "id" | "tenantId">;

/** Called by the code that ended the scan, and by nothing else. Never rejects. */
export function announceScanEnd(row: ScanRow, options: AnnounceOptions): Promise<void> {
  const { publishScanEnd } = scanEvents(alsoToTenant(announcing(options)));
  const end = toFields(scanEventSchemas["scan.end"], { table: scans, row }, { scan_id: row.id });
  return publishScanEnd(runChannel(scanKind, row), end);
}

/** As it is stored then. Never rejects. */
export function announceScanUpdated({ id, tenantId }: Run, dependencies: FeatureDependencies): Promise<void> {
  return announcePaced(dependencies, id, async () => {
    const [row] = await readOne(dependencies.database, { tenantId }, (db) => scanStore.byId(db, id));
    // Its end is published by the code that ended it.
    if (row?.endedAt !== null) return;
    await tenantEvents(dependencies).publishScanUpdated(tenantChannel(tenantId), toScanResource(row));
  });
}

/** Publishes on the tenant's stream that a run was deleted. Called after that: a later snapshot no longer has it. Never rejects. */
export function announceDeleted({ name }: AnyRunKind, { id, tenantId }: Run, options: AnnounceOptions): Promise<void> {
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
