import { inArray, sql, type SQL } from "drizzle-orm";
import { findDueTenant } from "../../../drizzle/across_tenants.ts";
import type { Database } from "../../../drizzle/database.ts";
import { monitors, scans } from "../../../drizzle/schema.ts";
import { write } from "../../../drizzle/transactions.ts";
import { announceAll, type AnnounceOptions } from "../announce.ts";
import type { Task } from "../features.ts";
import { organizationAnnouncerOf } from "../organizations/announce_updates.ts";
import { announceRun, announceScanEnd } from "./announce_runs.ts";
import { monitorEvents } from "./monitor_events.ts";
import {
  monitorKind,
  scanKind,
  toMonitorUpdated,
  type MonitorRow,
  type RunKind,
  type RunRow,
  type ScanRow,
} from "./run.ts";

export interface SweepOptions extends AnnounceOptions {
  readonly database: Database;
  readonly nowMs?: () => number;
}

/** A change of the runs of a kind whose producer is gone. */
interface Sweep<Row extends RunRow> {
  readonly kind: RunKind<Row>;
  readonly work: "expire" | "mark";
  readonly afterSeconds: number;
  /** Written out as the index has it. */
  readonly isDue: SQL;
  readonly order: SQL;
  readonly change: object;
  readonly announce: (row: Row, options: SweepOptions) => Promise<void>;
}

/** A producer PATCHes its scan far more often. */
const staleScanSeconds = 15 * 60;

const expired: Sweep<ScanRow> = {
  kind: scanKind,
  work: "expire",
  afterSeconds: staleScanSeconds,
  isDue: sql`${scans.status} in ('pending', 'running') and ${scans.updatedAt} < now() - make_interval(secs => ${staleScanSeconds})`,
  order: sql`${scans.updatedAt}`,
  change: { status: "expired", endedAt: sql`now()` },
  announce: announceScanEnd,
};

const stale: Sweep<MonitorRow> = {
  kind: monitorKind,
  work: "mark",
  afterSeconds: 0,
  isDue: sql`${monitors.status} = 'running' and ${monitors.staleAt} is null and ${monitors.staleFrom} <= now()`,
  order: sql`${monitors.staleFrom}`,
  change: { staleAt: sql`now()` },
  async announce(row, options) {
    const payload = { ...toMonitorUpdated(row), status: "stale" } as const;
    const { publishMonitorUpdated } = monitorEvents(options);
    await announceRun(monitorKind, row, options, (channel) => publishMonitorUpdated(channel, payload));
    await organizationAnnouncerOf(options).updated(row.tenantId, row);
  },
};

/** Ends the scans whose producer is gone, and publishes their ends. Returns how many; never rejects. */
export const expireScans = (options: SweepOptions) => sweep(expired, options);

/** Publishes `monitor.updated` for each running monitor that went silent, once until it reports again. Returns how many; never rejects. */
export const markStale = (options: SweepOptions) => sweep(stale, options);

/** However many gateways call it at once, each run is changed by one of them. */
async function sweep<Row extends RunRow>(one: Sweep<Row>, options: SweepOptions): Promise<number> {
  let count = 0;
  try {
    for (;;) {
      const rows = await changeDue(one, options.database);
      if (rows.length === 0) return count;
      count += rows.length;
      await announceAll(rows, (row) => one.announce(row, options));
      options.log.info({ count: rows.length, work: one.work }, `${one.kind.name}s without a producer`);
    }
  } catch (error) {
    options.log.warn({ error, work: one.work }, `${one.kind.name}s without a producer could not be changed`);
    return count;
  }
}

/** At most a thousand of one tenant. None: another caller does it, or none is due. */
async function changeDue<Row extends RunRow>(
  { kind, work, afterSeconds, isDue, order, change }: Sweep<Row>,
  database: Database,
): Promise<readonly Row[]> {
  const tenantId = await findDueTenant(database, work, afterSeconds);
  if (tenantId === null) return [];
  const table = kind.table as typeof scans;
  const rows = await write(database, { tenantId }, (db) => {
    const due = db
      .select({ id: table.id })
      .from(table)
      .where(isDue)
      .orderBy(order)
      .limit(1000)
      .for("update", { skipLocked: true });
    return db.update(table).set(change).where(inArray(table.id, due)).returning();
  });
  return rows as readonly RunRow[] as readonly Row[];
}

/** After an outage of the gateway itself every producer has as long to come back as its run may be silent. */
export const expiringScans: Task = { firstAfterMs: staleScanSeconds * 1000, everyMs: 60_000, run: expireScans };
export const markingStale: Task = { firstAfterMs: 60_000, everyMs: 15_000, run: markStale };
