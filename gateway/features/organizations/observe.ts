import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import { findings, observations, organizations } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import {
  momentsOf,
  type MovedFinding,
  observe,
  isUnseen,
  toRuleResult,
  unseen,
  type Observation,
  type Results,
} from "../../../shared/history/observation.ts";
import { AppError } from "../../../shared/app_error.ts";
import { toCheckName } from "../../../shared/rule_names.ts";
import { countedFindings, worstVerdict } from "../../../shared/rule_result.ts";
import { severities } from "../../../shared/severity.ts";
import { longestSilenceMs } from "../../../shared/schemas/monitor.ts";
import type { RunRow } from "../runs/run.ts";

/** Writes what scans and monitors saw, each in the transaction that stores the scan or the monitor. */

/** The id of an organization, which is added with its first scan or monitor. Null: a scan without an address. */
export async function registerOrganization(
  db: TenantDatabase,
  tenantId: string,
  orgUrl: string | null,
): Promise<string | null> {
  if (orgUrl === null) return null;
  const select = () => db.select({ id: organizations.id }).from(organizations).where(eq(organizations.orgUrl, orgUrl));
  const [known] = await select();
  if (known !== undefined) return known.id;
  const [added] = await db
    .insert(organizations)
    .values({ tenantId, orgUrl })
    .onConflictDoNothing({ target: [organizations.tenantId, organizations.orgUrl] })
    .returning({ id: organizations.id });
  // Another transaction may have added it at this moment.
  return (added ?? (await select())[0])?.id ?? null;
}

/** As JSON: each moment of a monitor is stored with all of them. Those of the STIG's rules have about 10,000 characters. */
const maxResultsLength = 32_768;
/** Rows of one scan, of all its checks, with which the results are too long. */
const maxVerdicts = 5000;

/** Throws `AppError("conflict")`. */
function requireRoomFor(results: Results): void {
  if (JSON.stringify(results).length <= maxResultsLength) return;
  throw new AppError(
    "conflict",
    `The results of one scan or monitor are limited to ${maxResultsLength} characters: its findings are of too many checks`,
  );
}

/**
 * Only a completed scan is an observation: another one may lack findings that it would have made. Rejects with `AppError("conflict")` for
 * results that are too many.
 */
export async function observeScan(db: TenantDatabase, scan: RunRow): Promise<void> {
  const { id, tenantId, origin, status, benchmark, createdAt, startedAt, endedAt: knownTo } = scan;
  if (status !== "completed" || knownTo === null) return;
  const organizationId = await registerOrganization(db, tenantId, origin);
  if (organizationId === null) return;
  const began = startedAt ?? createdAt;
  const knownFrom = began < knownTo ? began : knownTo;
  const times = { began: knownFrom, knownFrom, knownTo, movedAt: knownFrom };
  const results = await resultsOf(db, id);
  requireRoomFor(results);
  const run = { tenantId, organizationId, runId: id, kind: "scan", benchmark } as const;
  await db.insert(observations).values({ ...run, ...times, results });
}

/** The results of the rules of a scan. */
async function resultsOf(db: TenantDatabase, scanId: string): Promise<Results> {
  const { check, status, reason, severity, advisory, resourceType, automated } = findings;
  const rows = await db
    .selectDistinct({ check, status, reason, severity, advisory, resourceType, automated })
    .from(findings)
    .where(eq(findings.scanId, scanId))
    .limit(maxVerdicts);
  return Object.fromEntries(
    [...Map.groupBy(rows, (row) => row.check)].map(([name, own]) => {
      const counted = countedFindings(own);
      const worst = severities.find((each) => counted.some((row) => row.severity === each));
      const verdict = own.some((row) => isUnseen(row.resourceType, row)) ? unseen : worstVerdict(counted);
      return [name, toRuleResult(verdict, { severity: worst ?? "medium", cause: "scan" })];
    }),
  );
}

/** Changes of a monitor that were just stored. They may be late, and their clock may be wrong. Rejects as `observeScan` does. */
export async function observeChanges(
  db: TenantDatabase,
  monitor: RunRow,
  changes: readonly MovedFinding[],
): Promise<void> {
  const moments = momentsOf(changes.map((change) => ({ ...change, check: toCheckName(change.check) })));
  if (moments.length > 0) await addMoments(db, monitor, moments, longestSilenceMs(monitor.intervalSeconds));
}

/** The monitor polled at that time. `hasGap`: not without a gap since the time before it. */
export async function observePoll(
  db: TenantDatabase,
  monitor: RunRow,
  { polledAt, hasGap }: { readonly polledAt: Date; readonly hasGap: boolean },
): Promise<void> {
  const at = Math.min(polledAt.getTime(), Date.now());
  const longestMs = hasGap ? 0 : longestSilenceMs(monitor.intervalSeconds);
  const ofMonitor = eq(observations.runId, monitor.id);
  const newest = sql`(select max(known_from) from observations where ${ofMonitor})`;
  const extended = await db
    .update(observations)
    .set({ knownTo: new Date(at) })
    .where(
      and(
        ofMonitor,
        eq(observations.knownFrom, newest),
        lt(observations.knownTo, new Date(at)),
        gte(observations.knownTo, new Date(at - longestMs)),
      ),
    )
    .returning({ runId: observations.runId });
  if (extended.length === 0) await addMoments(db, monitor, [{ at, moved: {} }], longestMs);
}

/** Observations that a late moment can still move: gaps since the last change. */
const maxRecent = 50;

async function addMoments(
  db: TenantDatabase,
  { id: runId, tenantId, origin, benchmark }: RunRow,
  moments: readonly { readonly at: number; readonly moved: Results }[],
  longestMs: number,
): Promise<void> {
  const rows = await db
    .select()
    .from(observations)
    .where(eq(observations.runId, runId))
    .orderBy(desc(observations.knownFrom))
    .limit(maxRecent);
  const recent = rows
    .toReversed()
    .map((row): Observation => ({ from: row.knownFrom.getTime(), to: row.knownTo.getTime(), results: row.results }));
  let movedAt = Math.max(rows[0]?.movedAt.getTime() ?? 0, recent[0]?.from ?? 0);
  let known: readonly Observation[] = recent;
  for (const { at: seenAt, moved } of moments) {
    const now = Date.now();
    // A clock that is ahead knows no time to come. One that went back does not say when it was: it is known from now on.
    const at = seenAt < movedAt ? now : Math.min(seenAt, now);
    if (Object.keys(moved).length > 0) movedAt = at;
    known = observe(known, { at, moved, longestMs });
  }
  // The last one has the results of all checks that were ever seen.
  requireRoomFor(known.at(-1)?.results ?? {});
  const written = known.filter((one) => !recent.includes(one));
  const organizationId = written.length === 0 ? null : await registerOrganization(db, tenantId, origin);
  if (organizationId === null) return;
  await db
    .insert(observations)
    .values(
      written.map(({ from, to, results }) => ({
        tenantId,
        organizationId,
        runId,
        kind: "monitor" as const,
        benchmark,
        began: rows[0]?.began ?? new Date(known[0]?.from ?? from),
        knownFrom: new Date(from),
        knownTo: new Date(to),
        results,
        movedAt: new Date(movedAt),
      })),
    )
    .onConflictDoUpdate({
      target: [observations.tenantId, observations.runId, observations.knownFrom],
      set: { knownTo: sql`excluded.known_to`, results: sql`excluded.results`, movedAt: sql`excluded.moved_at` },
    });
}
