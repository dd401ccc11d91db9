import { readOne } from "../../../drizzle/transactions.ts";
import type { FeatureDependencies } from "../features.ts";
import { announce } from "../announce.ts";
import { createPacedUpdates } from "../paced_updates.ts";
import { tenantChannel, tenantEvents } from "../tenant_events.ts";
import { hasEnded, toScanResource, type ScanRow } from "./scan.ts";
import { requireScan, scanById } from "./scan_store.ts";

/** Tells the tenant's stream of its scans. Neither rejects. */
export interface ChangeAnnouncer {
  created(row: ScanRow): Promise<void>;
  /**
   * The scan was changed as the row says: published at once, and again for what changes within the next second at the end of
   * it, as it is stored then. Resolves when what this call has to publish was published.
   */
  updated(row: ScanRow): Promise<void>;
}

/** Also where what goes on after the response is cut off. */
const waitMs = 10_000;

export function createChangeAnnouncer({
  database,
  sendEvent,
  log,
  nowMs,
}: Pick<FeatureDependencies, "database" | "sendEvent" | "log" | "nowMs">): ChangeAnnouncer {
  const { publishScanCreated, publishScanUpdated } = tenantEvents({ sendEvent });
  const updates = createPacedUpdates(nowMs);

  return {
    async created(row) {
      const resource = toScanResource(row);
      await announceChange(row, (channel) => publishScanCreated(channel, resource));
    },

    updated: (row) => updates.run(row.id, (isLate) => publishUpdate(row, isLate ? null : row)),
  };

  /** The row that was just stored is good for one attempt; what is published later is read later. */
  async function publishUpdate({ id, tenantId }: ScanRow, stored: ScanRow | null): Promise<void> {
    let given = stored;
    await announceChange({ id, tenantId }, async (channel) => {
      const row = given ?? requireScan(await readOne(database, { tenantId }, (db) => scanById(db, id)));
      given = null;
      // Its end is published by the code that ended it.
      if (!hasEnded(row.status)) await publishScanUpdated(channel, toScanResource(row));
    });
  }

  async function announceChange(
    { id, tenantId }: Pick<ScanRow, "id" | "tenantId">,
    publish: (channel: string) => Promise<void>,
  ): Promise<void> {
    await announce(
      {
        publish: [() => publish(tenantChannel(tenantId))],
        failure: { fields: { scan_id: id }, message: "a change of a scan could not be published" },
      },
      { log, waitMs },
    );
  }
}
