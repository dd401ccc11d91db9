import { scans } from "../../../drizzle/schema.ts";
import { readOne } from "../../../drizzle/transactions.ts";
import { scanEvents } from "../../../shared/scan_events.ts";
import type { MonitorEvents } from "../../../shared/schemas/monitor.ts";
import { scanEventSchemas } from "../../../shared/schemas/scan.ts";
import type { ScanResource } from "../../../shared/schemas/tenant_events.ts";
import type { Publisher } from "../../../shared/send_event.ts";
import { announce, announcePaced, tenantChannel, type AnnounceOptions, type Send } from "../announce.ts";
import type { FeatureDependencies } from "../features.ts";
import { toFields } from "../stored_fields.ts";
import { runChannel, toScanResource, type RunKind, type RunRow, type ScanRow } from "./run.ts";
import { scanStore } from "./store.ts";

type Run = Pick<RunRow, "id" | "tenantId">;
type Kind = Pick<RunKind<RunRow>, "name">;

/** Publishes events on the run's channel and on its tenant's. */
export function announceRun(kind: Kind, run: Run, options: AnnounceOptions, ...events: readonly Send[]): Promise<void> {
  return announce(options, [runChannel(kind, run), tenantChannel(run.tenantId)], ...events);
}

/** Called by the code that ended the scan, and by nothing else. */
export function announceScanEnd(row: ScanRow, options: AnnounceOptions): Promise<void> {
  const end = toFields(scanEventSchemas["scan.end"], { table: scans, row }, { scan_id: row.id });
  return announceRun({ name: "scan" }, row, options, (channel) => scanEvents(options).publishScanEnd(channel, end));
}

/** Publishes on the tenant's stream that a run was deleted. Called after that: a later snapshot no longer has it. */
export function announceDeleted({ name }: Kind, { id, tenantId }: Run, options: AnnounceOptions): Promise<void> {
  return announce(options, [tenantChannel(tenantId)], (channel) =>
    name === "scan"
      ? tenantEvents(options).publishScanDeleted(channel, { scan_id: id })
      : monitorEvents(options).publishMonitorEnd(channel, { monitor_id: id, reason: "deleted" }),
  );
}

/** Never rejects. */
export function announceScanCreated(row: ScanRow, options: AnnounceOptions): Promise<void> {
  const { publishScanCreated } = tenantEvents(options);
  return announce(options, [tenantChannel(row.tenantId)], (channel) =>
    publishScanCreated(channel, toScanResource(row)),
  );
}

/** As it is stored then. Never rejects. */
export function announceScanUpdated({ id, tenantId }: Run, dependencies: FeatureDependencies): Promise<void> {
  const { publishScanUpdated } = tenantEvents(dependencies);
  return announcePaced(dependencies, id, () =>
    announce(dependencies, [tenantChannel(tenantId)], async (channel) => {
      const [row] = await readOne(dependencies.database, { tenantId }, (db) => scanStore.byId(db, id));
      // Its end is published by the code that ended it.
      if (row?.endedAt === null) await publishScanUpdated(channel, toScanResource(row));
    }),
  );
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
const tenantEvents = ({ sendEvent }: Publisher) => ({
  publishScanCreated: (channel: string, payload: ScanResource) => sendEvent(channel, "scan.created", payload),
  publishScanUpdated: (channel: string, payload: ScanResource) => sendEvent(channel, "scan.updated", payload),
  publishScanDeleted: (channel: string, payload: { readonly scan_id: string }) =>
    sendEvent(channel, "scan.deleted", payload),
});
