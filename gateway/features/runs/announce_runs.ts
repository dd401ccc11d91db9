import { scans } from "../../../drizzle/schema.ts";
import { readOne } from "../../../drizzle/transactions.ts";
import { scanEvents } from "../../../shared/scan_events.ts";
import { scanEventSchemas } from "../../../shared/schemas/scan_events.ts";
import { announce, type AnnounceOptions, type Send } from "../announce.ts";
import type { FeatureDependencies } from "../features.ts";
import { createPacedUpdates } from "../paced_updates.ts";
import { toFields } from "../stored_fields.ts";
import { tenantChannel, tenantEvents } from "../tenant_events.ts";
import { monitorEvents } from "./monitor_events.ts";
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

/** Tells the tenant's stream of its scans. Neither rejects. */
export function createScanAnnouncer(
  dependencies: Pick<FeatureDependencies, "database" | "sendEvent" | "log" | "nowMs">,
) {
  const { publishScanCreated, publishScanUpdated } = tenantEvents(dependencies);
  const updates = createPacedUpdates(dependencies.nowMs);
  return {
    created: (row: ScanRow) =>
      announce(dependencies, [tenantChannel(row.tenantId)], (channel) =>
        publishScanCreated(channel, toScanResource(row)),
      ),
    /** Publishes the row at once; for changes within the next second, the scan as it is stored at the end of it. */
    updated: (row: ScanRow) => updates.run(row.id, (isLate) => publishUpdate(row, isLate ? null : row)),
  };

  /** The row that was just stored is good for one attempt; a later one reads it again. */
  async function publishUpdate({ id, tenantId }: Run, stored: ScanRow | null): Promise<void> {
    let given = stored;
    await announce(dependencies, [tenantChannel(tenantId)], async (channel) => {
      const [row] =
        given === null ? await readOne(dependencies.database, { tenantId }, (db) => scanStore.byId(db, id)) : [given];
      given = null;
      // Its end is published by the code that ended it.
      if (row?.endedAt === null) await publishScanUpdated(channel, toScanResource(row));
    });
  }
}
