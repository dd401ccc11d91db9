import { withTenant } from "../../../drizzle/with_tenant.ts";
import type { Dependencies } from "../../http/dependencies.ts";
import { announce } from "../announce.ts";
import { publishScanCreated, publishScanUpdated, tenantChannel } from "../tenant/events.ts";
import { hasEnded, toScanResource, type ScanRow } from "./scan.ts";
import { selectScan } from "./scan_store.ts";

/** Tells the tenant's stream of its scans. Neither rejects. */
export interface ChangeAnnouncer {
  created(row: ScanRow): Promise<void>;
  /**
   * The scan was changed as the row says: published at once, and again for what changes within the next second at the end of
   * it, as it is stored then. Resolves when what this call has to publish was published.
   */
  updated(row: ScanRow): Promise<void>;
}

const everyMs = 1000;
/** Its publication may take this long before another request takes it over: the request that waits may be cancelled. */
const abandonedAfterMs = 1000;
/** Also where what goes on after the response is cut off. */
const waitMs = 10_000;

interface Pace {
  /** No update of the scan is published sooner. */
  readonly nextAtMs: number;
  /** An update waits for that moment, and reads the scan then. */
  isWaiting: boolean;
}

export function createChangeAnnouncer({
  database,
  publisher,
  log,
  nowMs,
}: Pick<Dependencies, "database" | "publisher" | "log" | "nowMs">): ChangeAnnouncer {
  /** By scan, least recent first. */
  const paces = new Map<string, Pace>();

  return {
    async created(row) {
      const resource = toScanResource(row);
      await announceChange(row, (channel) => publishScanCreated(publisher, channel, resource));
    },

    async updated(row) {
      const startedMs = nowMs();
      const pace = paces.get(row.id);
      if (pace === undefined || pace.nextAtMs + abandonedAfterMs < startedMs) {
        allowNext(row.id, startedMs);
        await publishUpdate(row, row);
        return;
      }
      if (pace.isWaiting) return;
      pace.isWaiting = true;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, pace.nextAtMs - startedMs)));
      allowNext(row.id, nowMs());
      await publishUpdate(row, null);
    },
  };

  function allowNext(scanId: string, atMs: number): void {
    paces.delete(scanId);
    paces.set(scanId, { nextAtMs: atMs + everyMs, isWaiting: false });
    for (const [id, { nextAtMs }] of paces) {
      if (nextAtMs + abandonedAfterMs >= atMs) return;
      paces.delete(id);
    }
  }

  /** The row that was just stored is good for one attempt; what is published later is read later. */
  async function publishUpdate({ id, tenantId }: ScanRow, stored: ScanRow | null): Promise<void> {
    let given = stored;
    await announceChange({ id, tenantId }, async (channel) => {
      const row = given ?? (await withTenant(database, tenantId, (db) => selectScan(db, id)));
      given = null;
      // Its end is published by the code that ended it.
      if (!hasEnded(row.status)) await publishScanUpdated(publisher, channel, toScanResource(row));
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
      { publisher, log, waitMs },
    );
  }
}
