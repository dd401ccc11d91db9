import { sql } from "drizzle-orm";
import { observations, runs } from "../../drizzle/schema.ts";
import { write } from "../../drizzle/transactions.ts";
import type { GatewayConfig } from "../config.ts";
import { deleteNumbering } from "../streaming/published.ts";
import { announceAll } from "./announce.ts";
import { deleteSome } from "./stored_rows.ts";
import { announceOrganization } from "./organizations/organization.ts";
import type { Task } from "./features.ts";
import { announceDeleted, detailsOf, runChannel } from "./runs/run.ts";

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
  return [deletingEnded(afterSeconds), forgetting];
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
function deletingEnded(afterSeconds: number): Task {
  const { id, kind, tenantId, origin, endedAt } = runs;
  return {
    ...times,
    due: "runs_ended_due",
    afterSeconds,
    async run(tenant, dependencies) {
      const { deleted, hasMore } = await write(dependencies.database, { tenantId: tenant }, async (db) => {
        const old = await db
          .select({ id, kind, tenantId, origin })
          .from(runs)
          .where(sql`${endedAt} <= now() - make_interval(secs => ${afterSeconds})`)
          .orderBy(endedAt)
          .limit(500)
          .for("update", { skipLocked: true });
        const [first] = old;
        if (first === undefined) return { deleted: [], hasMore: false };
        const ofKind = old.filter((run) => run.kind === first.kind);
        const ids = sql`any (${sql.param(ofKind.map((run) => run.id))}::uuid[])`;
        const details = detailsOf[first.kind];
        if (await deleteSome(db, details.table, sql`${details.owner} = ${ids}`)) return { deleted: [], hasMore: true };
        await db.delete(runs).where(sql`${kind} = ${first.kind} and ${id} = ${ids}`);
        await deleteNumbering(db, ofKind.map(runChannel));
        return { deleted: ofKind, hasMore: true };
      });
      await announceAll(deleted, async (run) => {
        await announceDeleted(run, dependencies);
        await announceOrganization(dependencies, run);
      });
      if (deleted[0] !== undefined)
        dependencies.log.info({ count: deleted.length }, `${deleted[0].kind}s older than RETENTION_DAYS were deleted`);
      return hasMore;
    },
  };
}
