import { and, desc, eq, lte, sql, type SQL } from "drizzle-orm";
import { observations, organizations, runs } from "../../../drizzle/schema.ts";
import { audit, columnsOf } from "../../../drizzle/audit.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { NotFound } from "../../../shared/app_error.ts";
import type { RunObservation, Span } from "../../../shared/history/observation.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import type { Access } from "../../auth/membership.ts";
import { afterCursor, type PageRequest } from "../../http/query.ts";
import type { RunKind } from "../runs/run.ts";
import { deleteInBatches, deleteSome, selectUpTo } from "../stored_rows.ts";

/** The organizations of the transaction's tenant, and what was observed of them. */

export type OrganizationRow = Awaited<ReturnType<typeof selectOrganizationRows>>[number];

/** Newest first, one row beyond the limit. */
export function selectOrganizations(db: TenantDatabase, page: PageRequest) {
  const condition = afterCursor(page, [organizations.createdAt, organizations.id]);
  return selectOrganizationRows(db, { condition, limit: page.limit + 1 });
}

/** The newest first, up to the limit, each with the observations that its present state comes from. */
export function selectOrganizationRows(
  db: TenantDatabase,
  { condition, limit }: { readonly condition?: SQL | undefined; readonly limit: number },
) {
  const { id, status, staleAt, staleFrom, createdAt } = runs;
  const isMonitor = eq(runs.kind, "monitor");
  // Chooses a running monitor before others, then the newest: a heartbeat does not change the choice.
  const monitor = db
    .select({ id, status, staleAt, staleFrom })
    .from(runs)
    .where(and(isMonitor, eq(runs.tenantId, organizations.tenantId), eq(runs.origin, organizations.orgUrl)))
    .orderBy(desc(sql`${status} = 'running'`), desc(createdAt), desc(id))
    .limit(1)
    .as("monitor");
  return db
    .select({
      stored: organizations,
      monitor: { ...monitor._.selectedFields },
      seen: seenOf(sql`case ${monitor.status} when 'running' then ${monitor.id} end`),
    })
    .from(organizations)
    .leftJoinLateral(monitor, sql`true`)
    .where(condition)
    .orderBy(desc(organizations.createdAt), desc(organizations.id))
    .limit(limit);
}

/** Scans before the last one are read where it did not evaluate every rule, and of them only the rules that it lacks. */
const maxScans = 20;

const ofKind = (kind: RunKind) => sql`from observations where tenant_id = ${organizations.tenantId}
  and organization_id = ${organizations.id} and kind = ${kind} order by known_to desc`;
const everyRule = sql`${sql.param(stigRuleNames.map(({ check }) => check))}::text[]`;

export interface SeenRun extends RunObservation {
  readonly kind: RunKind;
  readonly benchmark: string | null;
  /** False: the scan was deleted. */
  readonly isKept: boolean;
}

/**
 * The newest observations of scans, the newest first, and the newest one of the monitor that runs. So two monitors
 * that disagree do not take turns with each poll. The newest one of any monitor counts where none runs or it has seen nothing yet.
 */
const seenOf = (monitorId: SQL) =>
  sql`(
  with scan as (
    select *, row_number() over (order by known_to desc) as place ${ofKind("scan")} limit
      case when (select jsonb_exists_all(results, ${everyRule}) ${ofKind("scan")} limit 1) then 1 else ${maxScans}::integer end
  ), newest as (select array(select jsonb_object_keys(results) from scan where place = 1) as rules)
  select coalesce(json_agg(json_build_object('runId', run_id, 'kind', kind, 'benchmark', benchmark, 'began', ${toMs(sql`began`)},
    'from', ${toMs(sql`known_from`)}, 'to', ${toMs(sql`known_to`)}, 'results', case place when 1 then results else results - rules end,
    'isKept', exists (select from runs where runs.tenant_id = seen.tenant_id and runs.kind = 'scan' and runs.id = run_id)
  ) order by kind desc, place) filter (where place = 1 or results - rules <> '{}'), '[]')::text
  from (select * from scan union all (select *, 1 from observations as one
    where tenant_id = ${organizations.tenantId} and (run_id, known_from) = (select run_id, known_from from (
      (select 0 as turn, run_id, known_from from observations
        where tenant_id = ${organizations.tenantId} and run_id = ${monitorId} order by known_from desc limit 1)
      union all (select 1, run_id, known_from ${ofKind("monitor")} limit 1)
    ) as latest order by turn limit 1))) as seen, newest
)`
    .mapWith((json: string) => JSON.parse(json) as readonly SeenRun[])
    .as("seen");

function toMs(time: SQL): SQL {
  return sql`(date_part('epoch', ${time}) * 1000)::bigint`;
}

/** One answer has at most so many: a year of nightly scans, and of a monitor under which four results move a day. */
const maxObservations = 2000;
/** Together: every rule of the STIG in each of them. A run may have ten times as many. */
const maxResults = 64_000;

/** The newest that began before the end of a period, which begins where they are whole. Rejects with `NotFound`. */
export async function selectObservations(db: TenantDatabase, id: string, { from, to }: Span) {
  const { organizationId, knownFrom, knownTo, results } = observations;
  const [[organization], rows] = await Promise.all([
    db.select({ orgUrl: organizations.orgUrl }).from(organizations).where(eq(organizations.id, id)),
    selectUpTo(db, observations, {
      where: and(eq(organizationId, id), lte(knownFrom, new Date(to))),
      by: desc(knownTo),
      limit: maxObservations - 1,
      size: sql`(select count(*) from jsonb_object_keys(${results}))`,
      maxSize: maxResults - 1,
    }),
  ]);
  if (organization === undefined) throw new NotFound("No such organization");
  const count = rows.reduce((sum, row) => sum + Object.keys(row.results).length, 0);
  const isCut = rows.length === maxObservations || count >= maxResults;
  const cutAt = isCut ? (rows.at(-1)?.knownTo.getTime() ?? 0) : 0;
  return {
    orgUrl: organization.orgUrl,
    period: { from: Math.max(from, Math.min(cutAt, to)), to },
    observations: rows.map((row): RunObservation => ({
      runId: row.runId,
      began: row.began.getTime(),
      from: row.knownFrom.getTime(),
      to: row.knownTo.getTime(),
      results: row.results,
    })),
  };
}

/**
 * Deletes an organization with its history. Scans and monitors stay, and what they find from now on begins another history. Large ones
 * take several transactions, and the same call again goes on where one was interrupted. Rejects with `NotFound`.
 */
export async function deleteOrganization(write: Access["write"], id: string): Promise<void> {
  await deleteInBatches(() =>
    write(async (db) => {
      if (await deleteSome(db, observations, eq(observations.organizationId, id))) return null;
      const [row] = await db.delete(organizations).where(eq(organizations.id, id)).returning();
      if (row === undefined) throw new NotFound("No such organization");
      const detail = columnsOf(organizations, row);
      return audit(db, [{ tenantId: row.tenantId, action: "organization.deleted", targetId: id, detail }]);
    }),
  );
}
