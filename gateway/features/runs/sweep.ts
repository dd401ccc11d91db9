import { inArray, sql, type SQL } from "drizzle-orm";
import { monitors, scans } from "../../../drizzle/schema.ts";
import { write } from "../../../drizzle/transactions.ts";
import { announceAll, type AnnounceOptions } from "../announce.ts";
import type { FeatureDependencies, Task } from "../features.ts";
import { announceOrganization } from "../organizations/announce_updates.ts";
import { announceRun, announceScanEnd, monitorEvents } from "./announce_runs.ts";
import {
  monitorKind,
  scanKind,
  toMonitorUpdated,
  type MonitorRow,
  type RunKind,
  type RunRow,
  type ScanRow,
} from "./run.ts";

/** A change of the runs of a kind whose producer is gone. */
interface Sweep<Row extends RunRow> extends Omit<Task, "run"> {
  readonly kind: RunKind<Row>;
  /** Written out as the index has it. */
  readonly isDue: SQL;
  readonly change: object;
  readonly announce: (row: Row, options: FeatureDependencies & AnnounceOptions) => Promise<void>;
}

/** A producer PATCHes its scan far more often. */
const staleScanSeconds = 15 * 60;

/** Ends the scans whose producer is gone. After an outage of the gateway itself every producer has as long to come back as its run may be silent. */
export const expiringScans = sweeping<ScanRow>({
  kind: scanKind,
  due: "scans_silent_due",
  afterSeconds: staleScanSeconds,
  firstAfterMs: staleScanSeconds * 1000,
  everyMs: 60_000,
  isDue: sql`${scans.status} in ('pending', 'running') and ${scans.updatedAt} < now() - make_interval(secs => ${staleScanSeconds})`,
  change: { status: "expired", endedAt: sql`now()` },
  announce: announceScanEnd,
});

/** Publishes `monitor.updated` for each running monitor that went silent, once until it reports again. */
export const markingStale = sweeping<MonitorRow>({
  kind: monitorKind,
  due: "monitors_silent_due",
  firstAfterMs: 60_000,
  everyMs: 15_000,
  isDue: sql`${monitors.status} = 'running' and ${monitors.staleAt} is null and ${monitors.staleFrom} <= now()`,
  change: { staleAt: sql`now()` },
  async announce(row, options) {
    const payload = { ...toMonitorUpdated(row), status: "stale" } as const;
    const { publishMonitorUpdated } = monitorEvents(options);
    await announceRun(monitorKind, row, options, (channel) => publishMonitorUpdated(channel, payload));
    await announceOrganization(options, row);
  },
});

/** However many gateways do it at once, each run is changed by one of them. */
function sweeping<Row extends RunRow>({ kind, isDue, change, announce, ...task }: Sweep<Row>): Task {
  const table = kind.table as typeof scans;
  return {
    ...task,
    async run(tenantId, dependencies) {
      const rows = await write(dependencies.database, { tenantId }, (db) => {
        const due = db
          .select({ id: table.id })
          .from(table)
          .where(isDue)
          .limit(1000)
          .for("update", { skipLocked: true });
        return db.update(table).set(change).where(inArray(table.id, due)).returning();
      });
      await announceAll(rows as readonly RunRow[] as readonly Row[], (row) => announce(row, dependencies));
      if (rows.length > 0) dependencies.log.info({ count: rows.length }, `${kind.name}s without a producer`);
      return rows.length > 0;
    },
  };
}
