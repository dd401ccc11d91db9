import { and, desc, eq, getTableColumns, gt, inArray, isNotNull, isNull, ne, sql, type SQL } from "drizzle-orm";
import { changes, findings, memberships, runs } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { overviewLimits, type Overview } from "./overview_schema.ts";
import type { Principal } from "../../auth/principal.ts";
import { selectDecisions, toDecision } from "../decisions/decision_store.ts";
import { presentResults, toOrganization } from "../organizations/organization.ts";
import { selectOrganizations, type OrganizationRow, type SeenRun } from "../organizations/organization_store.ts";
import { lastChanges, toChange } from "../runs/changes.ts";
import { toMonitor, toScan } from "../runs/run.ts";
import { monitorStore, scanStore, selectUnfinishedScans } from "../runs/store.ts";

/** One row beyond the limit is read. */
const newest = (limit: number) => ({ limit: limit - 1, after: null });
const changesOfMonitor = { newest: 20, since: 200 };
const maxFailing = 5000;
/** In characters of JSON, of changes and of findings: each of these rows may have tens of thousands. */
const maxLength = 1_048_576;
const maxFailingLength = 65_536;

/** Reads what the first view of the page shows, in the transaction's tenant. Null: the newest changes, no matter when they were stored. */
export async function readOverview(
  db: TenantDatabase,
  { principal, since }: { readonly principal: Principal; readonly since: Date | null },
): Promise<Omit<Overview, "session">> {
  const seenAt = await selectSeenAt(db, principal);
  const organizations = await selectOrganizations(db, newest(overviewLimits.organizations));
  const monitorRows = await monitorStore.selectPage(db, newest(overviewLimits.monitors));
  const running = await selectUnfinishedScans(db, overviewLimits.monitors);
  const scanRows = new Map(
    [...running, ...(await scanStore.selectPage(db, newest(overviewLimits.scans)))].map((row) => [row.id, row]),
  );
  const holding = { active: "true", kind: null, check: null, org_url: null } as const;
  const decisionRows = await selectDecisions(db, newest(overviewLimits.decisions), holding);
  return {
    seen_at: seenAt?.toISOString() ?? null,
    organizations: organizations.map(toOrganization),
    monitors: monitorRows.map(toMonitor),
    scans: [...scanRows.values()].map(toScan),
    decisions: decisionRows.map(toDecision),
    changes: await selectChanges(db, since),
    cat1: await readFailingCat1(db, organizations),
  };
}

/** Stores that the member has seen everything until now; null for an API key. */
export async function storeSeen(db: TenantDatabase, principal: Principal): Promise<Date | null> {
  const [row] = await db
    .update(memberships)
    .set({ seenAt: sql`now()` })
    .where(isMembershipOf(principal))
    .returning({ seenAt: memberships.seenAt });
  return row?.seenAt ?? null;
}

async function selectSeenAt(db: TenantDatabase, principal: Principal): Promise<Date | null> {
  const [row] = await db.select({ seenAt: memberships.seenAt }).from(memberships).where(isMembershipOf(principal));
  return row?.seenAt ?? null;
}

/** An API key has none. */
function isMembershipOf({ kind, tenantId, id }: Principal): SQL | undefined {
  return kind === "user" ? and(eq(memberships.tenantId, tenantId), eq(memberships.userId, id)) : sql`false`;
}

async function selectChanges(db: TenantDatabase, since: Date | null): Promise<Overview["changes"]> {
  const own = db
    .select({ ...getTableColumns(changes), rank: sql`row_number() over (order by ${desc(changes.number)})`.as("rank") })
    .from(changes)
    .where(and(eq(changes.tenantId, runs.tenantId), eq(changes.monitorId, runs.id)))
    .orderBy(desc(changes.number))
    .limit(since === null ? changesOfMonitor.newest : changesOfMonitor.since)
    .as("own");
  const isNew = since === null ? undefined : gt(own.createdAt, since);
  const rows = await db
    .select({ ...own._.selectedFields })
    .from(runs)
    .innerJoinLateral(own, sql`true`)
    // The first state is one line for each finding, and no change.
    .where(and(eq(runs.kind, "monitor"), isNull(runs.endedAt), ne(own.cause, "start"), isNew))
    // A monitor with many changes leaves room for those of the others.
    .orderBy(own.rank, desc(own.seenAt))
    .limit(overviewLimits.changes);
  const items = rows.map((row) => ({ monitor_id: row.monitorId, ...toChange(row) }));
  return upTo(maxLength, items);
}

/** The first items whose JSON has no more characters together. */
function upTo<Item>(maxLength: number, items: readonly Item[]): Item[] {
  let length = 0;
  const end = items.findIndex((item) => (length += JSON.stringify(item).length) > maxLength);
  return items.slice(0, end === -1 ? items.length : end);
}

/** Findings are of the run that knows the rule's present result. */
async function readFailingCat1(db: TenantDatabase, rows: readonly OrganizationRow[]): Promise<Overview["cat1"]> {
  const failing = rows.flatMap((row) =>
    [...presentResults(row)].flatMap(([check, { status, severity, run, actor = null }]) =>
      status === "FAIL" && severity === "high" ? { organization_id: row.stored.id, check, actor, run } : [],
    ),
  );
  const runsOf = (kind: SeenRun["kind"]) => failing.flatMap(({ run }) => (run.kind === kind ? run.runId : []));
  const found = [...(await selectScanned(db, runsOf("scan"))), ...(await selectWatched(db, runsOf("monitor")))];
  const findings = Map.groupBy(found, ({ run_id: id, check }) => `${id} ${check}`);
  let length = 0;
  return failing.flatMap(({ run, ...rule }) => {
    if (length > maxLength) return [];
    const own = findings.get(`${run.runId} ${rule.check}`) ?? [];
    const named = own.map(({ run_id: _id, check: _check, ...finding }) => finding);
    length += JSON.stringify(named).length;
    return { ...rule, findings: upTo(maxFailingLength, named) };
  });
}

async function selectScanned(db: TenantDatabase, scanIds: readonly string[]) {
  const { scanId: run_id, check, resourceId, resourceName, notes, status, severity, advisory } = findings;
  const { waiverReason, waiverBy: waiver_by, waiverExpires: waiver_expires } = findings;
  const to_pass = firstCharacters(sql`${notes} ->> 'to_pass'`);
  const shown = { run_id, check, resource_id: resourceId, resource_name: resourceName, to_pass };
  // The list may be cut, and a rule counts as waived if all of its findings in it are.
  const unwaivedFirst = isNotNull(waiverReason);
  const waiver_reason = firstCharacters(sql`${waiverReason}`);
  return db
    .select({ ...shown, waiver_reason, waiver_by, waiver_expires })
    .from(findings)
    .where(and(inArray(run_id, [...new Set(scanIds)]), eq(status, "FAIL"), eq(severity, "high"), eq(advisory, false)))
    .orderBy(unwaivedFirst)
    .limit(maxFailing);
}

async function selectWatched(db: TenantDatabase, monitorIds: readonly string[]) {
  const ofMonitors = inArray(changes.monitorId, [...new Set(monitorIds)]);
  const last = lastChanges(db, and(ofMonitors, eq(changes.ruleSeverity, "high")));
  const to_pass = firstCharacters(sql`${last.toPass}`);
  const { monitorId: run_id, check, resourceId, resourceName, toWaived } = last;
  const { waiverBy: waiver_by, waiverExpires: waiver_expires } = last;
  const shown = { run_id, check, resource_id: resourceId, resource_name: resourceName, to_pass };
  // A decision of the gateway is not in the change.
  const waiver_reason = firstCharacters(sql`coalesce(${last.waiverReason}, case when ${toWaived} then '' end)`);
  return db
    .select({ ...shown, waiver_reason, waiver_by, waiver_expires })
    .from(last)
    .where(eq(last.toStatus, "FAIL"))
    .orderBy(toWaived)
    .limit(maxFailing);
}

function firstCharacters(text: SQL): SQL<string | null> {
  return sql`left(${text}, 500)`;
}
