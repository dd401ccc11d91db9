import { inArray, sql } from "drizzle-orm";
import type { Database } from "../../../drizzle/database.ts";
import { findDueTenant } from "../../../drizzle/across_tenants.ts";
import { scans } from "../../../drizzle/schema.ts";
import { write } from "../../../drizzle/transactions.ts";
import type { Publisher } from "../../../shared/send_event.ts";
import type { Task } from "../features.ts";
import { announceEnd, type EndedScan } from "./announce_end.ts";
import type { Log } from "../../observability/log.ts";

/** A producer PATCHes its scan far more often. */
const staleScanMinutes = 15;

export interface ExpireScansOptions extends Publisher {
  readonly database: Database;
  readonly log: Log;
  /** Without a heartbeat for so long, a scan's producer is gone. */
  readonly olderThanMinutes: number;
}

/** This many ends are published concurrently: one slow answer of the broker does not delay the others. */
const publishedAtOnce = 50;

/**
 * Ends the scans whose producer is gone, and publishes their ends. However many gateways call it at once, each scan is
 * ended by one of them. Returns how many; never rejects, because nothing awaits it.
 */
export async function expireScans(options: ExpireScansOptions): Promise<number> {
  let count = 0;
  try {
    for (;;) {
      const expired = await expireStaleScans(options.database, options.olderThanMinutes * 60);
      if (expired.length === 0) return count;
      count += expired.length;
      for (let start = 0; start < expired.length; start += publishedAtOnce) {
        const batch = expired.slice(start, start + publishedAtOnce);
        await Promise.all(batch.map((scan) => announceEnd(scan, options)));
      }
      options.log.info({ count: expired.length }, "scans without a producer were expired");
    }
  } catch (error) {
    options.log.warn({ error }, "stale scans could not be expired");
    return count;
  }
}

/** Ends at most a thousand of one tenant; each is ended by one caller. None: another caller does it, or none is due. */
export async function expireStaleScans(database: Database, afterSeconds: number): Promise<readonly EndedScan[]> {
  const tenantId = await findDueTenant(database, "expire", afterSeconds);
  if (tenantId === null) return [];
  const expired = await write(database, { tenantId }, (db) => {
    const stale = db
      .select({ id: scans.id })
      .from(scans)
      // Written out as the index has it.
      .where(
        sql`${scans.status} in ('pending', 'running') and ${scans.updatedAt} < now() - make_interval(secs => ${afterSeconds})`,
      )
      .orderBy(scans.updatedAt)
      .limit(1000)
      .for("update", { skipLocked: true });
    return db
      .update(scans)
      .set({ status: "expired", endedAt: sql`now()` })
      .where(inArray(scans.id, stale))
      .returning();
  });
  return expired.map((row) => ({ ...row, status: "expired", not_applicable: row.notApplicable }));
}

/** The first run is as late as a scan may be silent: after an outage of the gateway itself every producer has that time to come back. */
export const expiringScans: Task = {
  firstAfterMs: staleScanMinutes * 60_000,
  everyMs: 60_000,
  run: (dependencies) => expireScans({ ...dependencies, olderThanMinutes: staleScanMinutes }),
};
