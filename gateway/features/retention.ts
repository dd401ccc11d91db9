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

/** In one run: the next one goes on. Half a million findings or more, and less than a Worker may ask of others in one go. */
const maxSteps = 100;

/** Deletes what is old: scans and monitors, and the history of organizations. Never rejects. */
export async function deleteByAge(options: RetentionOptions): Promise<number> {
  const count = await deleteEnded(options);
  await deleteOldHistory(options);
  return count;
}

async function deleteOldHistory({ database, historyDays, log }: RetentionOptions): Promise<void> {
  let steps = 0;
  try {
    await deleteInBatches(
      (maxRows) => {
        steps += 1;
        return forgetHistory(database, { olderThanDays: historyDays, maxRows });
      },
      (hasMore) => !hasMore || steps >= maxSteps,
    );
  } catch (error) {
    log.warn({ error }, "what is older than HISTORY_DAYS could not be deleted");
  }
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

/**
 * Deletes what ended more than `retentionDays` ago, however many gateways call it at once: scans with their findings and
 * reports, monitors with their changes. Returns how many; never rejects, because nothing awaits it.
 */
async function deleteEnded(options: RetentionOptions): Promise<number> {
  const { database, retentionDays, log } = options;
  if (retentionDays === null) return 0;
  let count = 0;
  let steps = 0;
  try {
    await deleteInBatches(
      async (maxRows) => {
        const step = await deleteExpired(database, retentionDays * 86_400, maxRows);
        steps += 1;
        count += step.deleted.length;
        await announceAll(step.deleted, async ({ kind, ...run }) => {
          await announceDeleted(kind, run, options);
          await organizationAnnouncerOf(options).updated(run.tenantId, run);
        });
        return step;
      },
      ({ hasMore }) => !hasMore || steps >= maxSteps,
    );
  } catch (error) {
    log.warn({ error }, "what is older than RETENTION_DAYS could not be deleted");
  }
  if (count > 0) log.info({ count }, "scans and monitors older than RETENTION_DAYS were deleted");
  return count;
}

/** Deletes at most this many rows of any table of one tenant; nothing while another caller deletes the same. */
async function deleteExpired(
  database: Database,
  afterSeconds: number,
  maxRows: number,
): Promise<{ readonly deleted: readonly DeletedByAge[]; readonly hasMore: boolean }> {
  const tenantId = await findDueTenant(database, "delete", afterSeconds);
  if (tenantId === null) return { deleted: [], hasMore: false };
  return write(database, { tenantId }, async (db) => {
    for (const kind of [scanKind, monitorKind]) {
      const table = kind.table as typeof scans;
      const old = await db
        .select({ id: table.id, orgUrl: table.orgUrl })
        .from(table)
        .where(sql`${table.endedAt} < now() - make_interval(secs => ${afterSeconds})`)
        .orderBy(table.endedAt)
        .limit(Math.min(maxRows, 500))
        .for("update", { skipLocked: true });
      if (old.length === 0) continue;
      const ids = sql`any (${sql.param(old.map(({ id }) => id))}::uuid[])`;
      const { details } = kind;
      if (await deleteSome(db, details.table, sql`${details.owner} = ${ids}`, maxRows))
        return { deleted: [], hasMore: true };
      await db.delete(table).where(sql`${table.id} = ${ids}`);
      const deleted = old.map((row) => ({ kind, tenantId, ...row }));
      const channels = deleted.map((run) => runChannel(kind, run));
      await deleteNumbering(db, channels);
      return { deleted, hasMore: true };
    }
    return { deleted: [], hasMore: false };
  });
}

interface DeletedByAge {
  readonly kind: Pick<RunKind<RunRow>, "name">;
  readonly id: string;
  readonly tenantId: string;
  readonly orgUrl: string | null;
}

export function deletingByAge(keeping: Keeping): Task {
  return {
    firstAfterMs: 60_000,
    everyMs: 600_000,
    run: (dependencies) => deleteByAge({ ...dependencies, ...keeping }),
  };
}
