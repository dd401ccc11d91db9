import { sql } from "drizzle-orm";
import type { Database } from "../../drizzle/database.ts";
import { findDueTenant } from "../../drizzle/across_tenants.ts";
import { observations, type scans } from "../../drizzle/schema.ts";
import { write } from "../../drizzle/transactions.ts";
import { deleteNumbering } from "../streaming/published.ts";
import { announceAll, type AnnounceOptions } from "./announce.ts";
import { deleteInBatches, deleteSome } from "./delete_in_batches.ts";
import { organizationAnnouncerOf } from "./organizations/announce_updates.ts";
import type { Task } from "./features.ts";
import { announceDeleted } from "./runs/announce_runs.ts";
import { monitorKind, runChannel, scanKind, type RunKind, type RunRow } from "./runs/run.ts";

/** How long what is old is kept. */
export interface Keeping {
  /** Days for which ended scans and monitors are kept; null: for ever. */
  readonly retentionDays: number | null;
  /** Days for which the history of organizations is kept. */
  readonly historyDays: number;
}

export interface RetentionOptions extends AnnounceOptions, Keeping {
  readonly database: Database;
}

/** Steps of one run, the next one goes on: 200,000 findings, and less than a Worker may ask of others in one go. */
const maxSteps = 100;

/** Deletes what is old: scans and monitors, and the history of organizations. Returns how many runs; never rejects. */
export async function deleteByAge(options: RetentionOptions): Promise<number> {
  const { database, retentionDays, historyDays, log } = options;
  let count = 0;
  let steps = 0;
  const isLast = (hasMore: boolean) => !hasMore || ++steps >= maxSteps;
  try {
    await deleteInBatches(async (maxRows) => {
      if (retentionDays === null) return false;
      const { deleted, hasMore } = await deleteEnded(database, retentionDays * 86_400, maxRows);
      count += deleted.length;
      await announceAll(deleted, async ({ kind, ...run }) => {
        await announceDeleted(kind, run, options);
        await organizationAnnouncerOf(options).updated(run.tenantId, run);
      });
      return hasMore;
    }, isLast);
    await deleteInBatches((maxRows) => forgetHistory(database, { olderThanDays: historyDays, maxRows }), isLast);
  } catch (error) {
    log.warn({ error }, "what is older than RETENTION_DAYS or HISTORY_DAYS could not be deleted");
  }
  if (count > 0) log.info({ count }, "scans and monitors older than RETENTION_DAYS were deleted");
  return count;
}

/** Deletes the observations of one tenant that are older (at least a day), at most so many; true: there may be more. */
export async function forgetHistory(
  database: Database,
  { olderThanDays, maxRows }: { readonly olderThanDays: number; readonly maxRows: number },
): Promise<boolean> {
  const afterSeconds = Math.max(olderThanDays, 1) * 86_400;
  const tenantId = await findDueTenant(database, "forget", afterSeconds);
  if (tenantId === null) return false;
  const isOld = sql`${observations.knownTo} <= now() - make_interval(secs => ${afterSeconds})`;
  await write(database, { tenantId }, (db) => deleteSome(db, observations, isOld, maxRows));
  return true;
}

interface Ended {
  readonly deleted: readonly (Pick<RunRow, "id" | "tenantId" | "orgUrl"> & {
    readonly kind: Pick<RunKind<RunRow>, "name">;
  })[];
  readonly hasMore: boolean;
}

/** Deletes runs of one tenant that ended so long ago, with all that belongs to them; nothing while another caller deletes the same. */
async function deleteEnded(database: Database, afterSeconds: number, maxRows: number): Promise<Ended> {
  const tenantId = await findDueTenant(database, "delete", afterSeconds);
  if (tenantId === null) return { deleted: [], hasMore: false };
  return write(database, { tenantId }, async (db) => {
    for (const kind of [scanKind, monitorKind]) {
      const table = kind.table as typeof scans;
      const old = await db
        .select({ id: table.id, tenantId: table.tenantId, orgUrl: table.orgUrl })
        .from(table)
        .where(sql`${table.endedAt} < now() - make_interval(secs => ${afterSeconds})`)
        .orderBy(table.endedAt)
        .limit(500)
        .for("update", { skipLocked: true });
      if (old.length === 0) continue;
      const ids = sql`any (${sql.param(old.map(({ id }) => id))}::uuid[])`;
      const { details } = kind;
      if (await deleteSome(db, details.table, sql`${details.owner} = ${ids}`, maxRows))
        return { deleted: [], hasMore: true };
      await db.delete(table).where(sql`${table.id} = ${ids}`);
      const channels = old.map((run) => runChannel(kind, run));
      await deleteNumbering(db, channels);
      return { deleted: old.map((run) => ({ ...run, kind })), hasMore: true };
    }
    return { deleted: [], hasMore: false };
  });
}

export function deletingByAge(keeping: Keeping): Task {
  return {
    firstAfterMs: 60_000,
    everyMs: 600_000,
    run: (dependencies) => deleteByAge({ ...dependencies, ...keeping }),
  };
}
