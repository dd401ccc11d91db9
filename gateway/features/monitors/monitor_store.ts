import { and, desc, eq, getTableColumns, ne, type SQL, sql } from "drizzle-orm";
import { changes, monitors } from "../../../drizzle/schema.ts";
import { auditRows } from "../../../drizzle/audit.ts";
import { requireRoom } from "../../../drizzle/limits.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import type { MonitorUpdate, NewMonitor } from "../../../shared/schemas/monitor_requests.ts";
import { originOf } from "../../../shared/schemas/web_address.ts";
import type { Access } from "../../auth/membership.ts";
import type { Principal } from "../../auth/principal.ts";
import { afterCursor, type PageRequest } from "../../http/paging.ts";
import { InvalidBody } from "../../http/problem.ts";
import { deleteNumbering } from "../../streaming/published.ts";
import { deleteInBatches, deleteSome } from "../delete_in_batches.ts";
import { monitorChannel } from "./events.ts";
import { observePoll, registerOrganization } from "../organizations/observe.ts";
import type { MonitorRow } from "./monitor.ts";

/** The monitors of the transaction's tenant. */

/**
 * Registers a monitor under an id that its producer keeps; the same id again is a restart. An id is the tenant's own, whether or
 * not another tenant has the same one. Rejects with `AppError("conflict")` for one that has ended or follows another org.
 */
export async function putMonitor(
  db: TenantDatabase,
  { tenantId }: Principal,
  { monitorId: id, monitor }: { readonly monitorId: string; readonly monitor: NewMonitor },
): Promise<{ readonly row: MonitorRow; readonly isNew: boolean }> {
  const {
    org_url: orgUrl,
    client_id: clientId,
    benchmark,
    interval_seconds: intervalSeconds,
    checks_total: checksTotal,
  } = monitor;
  const [created] = await db
    .insert(monitors)
    .values({
      id,
      tenantId,
      orgUrl,
      origin: originOf(orgUrl),
      clientId: clientId ?? null,
      benchmark: benchmark ?? null,
      intervalSeconds,
      checksTotal: checksTotal ?? 0,
    })
    .onConflictDoNothing({ target: [monitors.tenantId, monitors.id] })
    .returning();
  if (created !== undefined) {
    await registerOrganization(db, tenantId, orgUrl);
    await requireRoom(db, tenantId, "monitors", "organizations");
    return { row: created, isNew: true };
  }
  const [row] = await db
    .update(monitors)
    .set({
      status: "running",
      intervalSeconds,
      ...(clientId === undefined ? {} : { clientId }),
      ...(benchmark === undefined ? {} : { benchmark }),
      ...(checksTotal === undefined ? {} : { checksTotal, ...countsWithin(checksTotal) }),
      // The last process's, of which this one knows nothing yet.
      logStatus: "unknown",
      errorCode: null,
      errorDetail: null,
      updatedAt: sql`now()`,
      startedAt: sql`now()`,
      staleAt: null,
    })
    .where(and(isOpen(id), eq(monitors.orgUrl, orgUrl)))
    .returning();
  if (row !== undefined) return { row, isNew: false };
  const stored = await selectMonitor(db, id);
  if (stored.endedAt !== null) throw ended();
  throw new AppError("conflict", "The monitor follows another org: expected the same org_url, or a new UUID");
}

/** Counts that no longer fit the total would refuse every later report that leaves them out. */
function countsWithin(checksTotal: number): Readonly<Record<Exclude<keyof Counts, "checksTotal">, SQL>> {
  const fits = sql`(${checksTotal}::integer = 0 or ${monitors.pass}::bigint + ${monitors.fail} + ${monitors.manual} + ${monitors.notApplicable} <= ${checksTotal}::integer)`;
  const kept = (name: Exclude<keyof Counts, "checksTotal">) => sql`case when ${fits} then ${monitors[name]} else 0 end`;
  return { pass: kept("pass"), fail: kept("fail"), manual: kept("manual"), notApplicable: kept("notApplicable") };
}

export function monitorById(db: TenantDatabase, monitorId: string) {
  return db.select().from(monitors).where(eq(monitors.id, monitorId));
}

/** Throws `NotFound` where no monitor was found: for another tenant's as for one that was deleted or never was. */
export function requireMonitor([row]: readonly MonitorRow[]): MonitorRow {
  if (row === undefined) throw new NotFound("No such monitor");
  return row;
}

/** Rejects with `NotFound`. */
export async function selectMonitor(db: TenantDatabase, monitorId: string): Promise<MonitorRow> {
  return requireMonitor(await monitorById(db, monitorId));
}

/** Newest first, one row beyond the limit. */
export function selectMonitors(db: TenantDatabase, page: PageRequest) {
  return db
    .select()
    .from(monitors)
    .where(afterCursor(page, monitors.createdAt, monitors.id))
    .orderBy(desc(monitors.createdAt), desc(monitors.id))
    .limit(page.limit + 1);
}

export interface UpdatedMonitor {
  readonly row: MonitorRow;
  readonly previousErrorCode: string | null;
  /** `stale` after a silence that was published; null: not known. */
  readonly previousStatus: string | null;
}

/**
 * The producer's report, and its heartbeat. Counts are judged together with what is stored. Rejects with `NotFound`,
 * `AppError("conflict")` or `InvalidBody`.
 */
export async function updateMonitor(
  db: TenantDatabase,
  monitorId: string,
  update: MonitorUpdate,
): Promise<UpdatedMonitor> {
  const { last_look_at: lastLookAt, error_code: errorCode, gap_from: gapFrom, gap_to: gapTo } = update;
  const counts = {
    checksTotal: update.checks_total,
    pass: update.pass,
    fail: update.fail,
    manual: update.manual,
    notApplicable: update.not_applicable,
  };
  const [updated] = await db
    .update(monitors)
    .set({
      // Drizzle leaves out what is undefined.
      ...(counts as Partial<Counts>),
      ...withoutUndefined({
        status: update.status,
        logStatus: update.log_status,
        lagSeconds: update.lag_seconds,
        errorCode,
        // The detail belongs to the code.
        errorDetail: errorCode === null ? null : update.error_detail,
        lastLookAt: typeof lastLookAt === "string" ? new Date(lastLookAt) : lastLookAt,
        // For the history, in which it is a gap.
        gapFrom: gapFrom === undefined ? undefined : new Date(gapFrom),
        gapTo: gapTo === undefined ? undefined : new Date(gapTo),
      }),
      updatedAt: sql`now()`,
      staleAt: null,
      ...(update.status === "ended" ? { endedAt: sql`now()` } : {}),
    })
    .where(and(isOpen(monitorId), areConsistent(counts)))
    .returning({
      ...getTableColumns(monitors),
      // A query inside a statement sees the row as it was before it.
      previousErrorCode: sql<
        string | null
      >`(select old.error_code from monitors as old where old.id = ${monitorId}::uuid)`,
      previousStatus: sql<string>`(select case when old.stale_at is not null then 'stale' else old.status end
        from monitors as old where old.id = ${monitorId}::uuid)`,
    });
  if (updated !== undefined) {
    const { previousErrorCode, previousStatus, ...row } = updated;
    if (row.lastLookAt !== null && lastLookAt !== undefined)
      await observePoll(db, row, { polledAt: row.lastLookAt, hasGap: gapTo !== undefined });
    return { row, previousErrorCode, previousStatus };
  }
  const stored = await selectMonitor(db, monitorId);
  if (stored.endedAt !== null) throw ended();
  throw impossibleCounts({ ...stored, ...withoutUndefined(counts) });
}

/**
 * Deletes a monitor with its changes. It ends with the first transaction, so that nothing more is stored of it; `onEnd` is called before
 * it goes. Rejects with `NotFound`. The same call again goes on where one was interrupted.
 */
export async function deleteMonitor(
  write: Access["write"],
  monitorId: string,
  onEnd: (monitor: MonitorRow) => Promise<void>,
): Promise<MonitorRow> {
  const [row] = await write((db) =>
    db
      .update(monitors)
      .set({ status: "ended", endedAt: sql`coalesce(${monitors.endedAt}, now())`, staleAt: null })
      .where(eq(monitors.id, monitorId))
      .returning(),
  );
  if (row === undefined) throw new NotFound("No such monitor");
  await onEnd(row);
  await deleteInBatches(
    (maxRows) => write((db) => deleteSome(db, changes, eq(changes.monitorId, monitorId), maxRows)),
    (hasMore) => !hasMore,
  );
  // Another deletion may have been first, and its producer may have made a new one.
  await write(async (db) => {
    const isEnded = and(eq(monitors.id, monitorId), eq(monitors.status, "ended"));
    const deleted = await db.delete(monitors).where(isEnded).returning();
    await deleteNumbering(
      db,
      deleted.map((monitor) => monitorChannel(monitor.tenantId, monitor.id)),
    );
    await auditRows(db, "monitor.deleted", monitors, deleted);
  });
  return row;
}

export function ended(): AppError {
  return new AppError("conflict", "The monitor has ended and cannot be changed");
}

/** In the WHERE of each write: of two that race to end a monitor, one finds it ended. */
function isOpen(monitorId: string): SQL | undefined {
  return and(eq(monitors.id, monitorId), ne(monitors.status, "ended"));
}

type Counts = Pick<MonitorRow, "checksTotal" | "pass" | "fail" | "manual" | "notApplicable">;
type GivenCounts = { readonly [Name in keyof Counts]: number | undefined };

/** What is given next to what is stored. A total of 0 is not known yet. */
function areConsistent(given: GivenCounts): SQL {
  const of = (name: keyof Counts) => {
    const count = given[name];
    return count === undefined ? sql`${monitors[name]}::bigint` : sql`${count}::bigint`;
  };
  return sql`(${of("checksTotal")} = 0 or ${of("pass")} + ${of("fail")} + ${of("manual")} + ${of("notApplicable")} <= ${of("checksTotal")})`;
}

function impossibleCounts({ checksTotal, pass, fail, manual, notApplicable }: Counts): InvalidBody {
  const detail = `is not consistent: pass, fail, manual and not_applicable add up to ${pass + fail + manual + notApplicable}, more than checks_total (${checksTotal})`;
  return new InvalidBody([{ pointer: "", detail }]);
}

function withoutUndefined<Given extends object>(
  given: Given,
): { [Key in keyof Given]: Exclude<Given[Key], undefined> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof Given]: Exclude<Given[Key], undefined> };
}
