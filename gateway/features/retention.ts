import { sql } from "drizzle-orm";
import { observations } from "../../drizzle/schema.ts";
import { write } from "../../drizzle/transactions.ts";
import type { GatewayConfig } from "../config.ts";
import { deleteNumbering } from "../streaming/published.ts";
import { announceAll } from "./announce.ts";
import { deleteSome } from "./stored_rows.ts";
import { announceOrganization } from "./organizations/organization.ts";
import type { Task } from "./features.ts";
import { announceDeleted, monitorKind, runChannel, scanKind, type AnyRunKind } from "./runs/run.ts";

/** The days that ended runs and the history of organizations are kept. */
export type Keeping = Pick<GatewayConfig, "retentionDays" | "historyDays">;

const times = { firstAfterMs: 60_000, everyMs: 600_000 };
const daySeconds = 86_400;

/** Tasks that delete ended scans and monitors, and the history of organizations, by age. */
export function deletingByAge({ retentionDays, historyDays }: Keeping): readonly Task[] {
  // A history of less than a day would have gaps.
  const forgetting = forgettingHistory(Math.max(historyDays, 1) * daySeconds);
  if (retentionDays === null) return [forgetting];
  const afterSeconds = retentionDays * daySeconds;
  return [deletingEnded(scanKind, afterSeconds), deletingEnded(monitorKind, afterSeconds), forgetting];
}

function forgettingHistory(afterSeconds: number): Task {
  const isOld = sql`${observations.knownTo} <= now() - make_interval(secs => ${afterSeconds})`;
  return {
    ...times,
    due: "observations_due",
    afterSeconds,
    async run(tenantId, { database }) {
      await write(database, { tenantId }, (db) => deleteSome(db, observations, isOld));
      return true;
    },
  };
}

/** Deletes runs that ended so long ago, with all that belongs to them; nothing while another process deletes the same. */
function deletingEnded(kind: AnyRunKind, afterSeconds: number): Task {
  const { table, details } = kind;
  return {
    ...times,
    due: `${kind.name}s_ended_due`,
    afterSeconds,
    async run(tenantId, dependencies) {
      const { deleted, hasMore } = await write(dependencies.database, { tenantId }, async (db) => {
        const old = await db
          .select({ id: table.id, tenantId: table.tenantId, orgUrl: table.orgUrl })
          .from(table)
          .where(sql`${table.endedAt} <= now() - make_interval(secs => ${afterSeconds})`)
          .orderBy(table.endedAt)
          .limit(500)
          .for("update", { skipLocked: true });
        if (old.length === 0) return { deleted: [], hasMore: false };
        const ids = sql`any (${sql.param(old.map(({ id }) => id))}::uuid[])`;
        if (await deleteSome(db, details.table, sql`${details.owner} = ${ids}`)) return { deleted: [], hasMore: true };
        await db.delete(table).where(sql`${table.id} = ${ids}`);
        await deleteNumbering(
          db,
          old.map((run) => runChannel(kind, run)),
        );
        return { deleted: old, hasMore: true };
      });
      await announceAll(deleted, async (run) => {
        await announceDeleted(kind, run, dependencies);
        await announceOrganization(dependencies, run);
      });
      if (deleted.length > 0)
        dependencies.log.info({ count: deleted.length }, `${kind.name}s older than RETENTION_DAYS were deleted`);
      return hasMore;
    },
  };
}
