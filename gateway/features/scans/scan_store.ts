import { and, desc, eq, inArray, isNotNull, type SQL, sql } from "drizzle-orm";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { findings, scans } from "../../../drizzle/schema.ts";
import { audit, auditRows } from "../../../drizzle/audit.ts";
import { requireRoom } from "../../../drizzle/limits.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { afterCursor, type PageRequest } from "../../http/paging.ts";
import type { Access } from "../../auth/membership.ts";
import type { Principal } from "../../auth/principal.ts";
import { InvalidBody } from "../../http/problem.ts";
import { scanChannel } from "../../../shared/scan_events.ts";
import { deleteNumbering } from "../../streaming/published.ts";
import { endContradicted } from "../decisions/decision_store.ts";
import { deleteInBatches, deleteSome } from "../delete_in_batches.ts";
import { observeScan, registerOrganization } from "../organizations/observe.ts";
import type { EndedScan } from "./announce_end.ts";
import { hasEnded, type ScanRow } from "./scan.ts";
import type { NewScan, ScanUpdate } from "../../../shared/schemas/scan_requests.ts";

/** The scans of the transaction's tenant. */

export async function insertScan(db: TenantDatabase, principal: Principal, scan: NewScan): Promise<ScanRow> {
  const [row] = await db.insert(scans).values(toValues(principal, scan)).returning();
  if (row === undefined) throw new Error("Cannot register a scan: the insert returned no row");
  await registerOrganization(db, row.tenantId, row.orgUrl);
  await requireRoom(db, row.tenantId, "scans", "organizations");
  return row;
}

/**
 * Registers a scan under an id that its producer made: the same request again, after a lost answer, gives the same scan.
 * An id is the tenant's own: the answer is the same whether or not another tenant has a scan with it. Rejects with
 * `AppError("conflict")` for an id that was registered with another body.
 */
export async function putScan(
  db: TenantDatabase,
  principal: Principal,
  { scanId: id, scan }: { readonly scanId: string; readonly scan: NewScan },
): Promise<{ readonly row: ScanRow; readonly isNew: boolean }> {
  const values = toValues(principal, scan);
  const [created] = await db
    .insert(scans)
    .values({ ...values, id })
    .onConflictDoNothing({ target: [scans.tenantId, scans.id] })
    .returning();
  if (created !== undefined) {
    await registerOrganization(db, created.tenantId, created.orgUrl);
    await requireRoom(db, created.tenantId, "scans", "organizations");
    return { row: created, isNew: true };
  }
  const row = await selectScan(db, id);
  if (row.registration === values.registration) return { row, isNew: false };
  throw new AppError("conflict", "Another scan is registered under this id: expected the same body, or a new UUID");
}

function toValues(principal: Principal, scan: NewScan) {
  const { org_url: orgUrl = null, client_id: clientId = null, benchmark = null, checks_total: checksTotal } = scan;
  return {
    tenantId: principal.tenantId,
    orgUrl,
    clientId,
    benchmark,
    checksTotal: checksTotal ?? 0,
    createdBy: principal.id,
    registration: JSON.stringify([orgUrl, clientId, benchmark, checksTotal ?? null]),
  };
}

export function scanById(db: TenantDatabase, scanId: string) {
  return db.select().from(scans).where(eq(scans.id, scanId));
}

/** Throws `NotFound` where no scan was found: for another tenant's as for one that never was. */
export function requireScan([row]: readonly ScanRow[]): ScanRow {
  if (row === undefined) throw new NotFound("No such scan");
  return row;
}

/** Rejects with `NotFound`. */
export async function selectScan(db: TenantDatabase, scanId: string): Promise<ScanRow> {
  return requireScan(await scanById(db, scanId));
}

/** Newest first, one row beyond the limit. */
export function selectScans(db: TenantDatabase, page: PageRequest) {
  return db
    .select()
    .from(scans)
    .where(afterCursor(page, scans.createdAt, scans.id))
    .orderBy(desc(scans.createdAt), desc(scans.id))
    .limit(page.limit + 1);
}

/**
 * A producer's report of progress, and its heartbeat. Counts are judged together with what is stored. Rejects with
 * `NotFound`, `AppError("conflict")` or `InvalidBody`.
 */
export async function updateScan(db: TenantDatabase, scanId: string, update: ScanUpdate): Promise<ScanRow> {
  const isEnd = update.status !== undefined && hasEnded(update.status);
  const counts = {
    checksDone: update.checks_done,
    checksTotal: update.checks_total,
    pass: update.pass,
    fail: update.fail,
    manual: update.manual,
    notApplicable: update.not_applicable,
  };
  const [row] = await db
    .update(scans)
    .set({
      updatedAt: sql`now()`,
      ...(update.status === undefined
        ? {}
        : { status: update.status, startedAt: sql`coalesce(${scans.startedAt}, now())` }),
      ...(isEnd ? { endedAt: sql`now()` } : {}),
      ...withoutUndefined(counts),
    })
    .where(and(isOpen(scanId), areConsistent(counts)))
    .returning();
  if (row !== undefined) {
    await observeScan(db, row);
    if (update.status === "completed") await endContradicted(db, row);
    return row;
  }
  const stored = await selectScan(db, scanId);
  if (hasEnded(stored.status)) throw ended();
  throw impossibleCounts({ ...stored, ...withoutUndefined(counts) });
}

/** Asks the producer to stop; it learns it from the answer to its next report. Rejects with `NotFound` or `AppError("conflict")`. */
export async function requestCancel(db: TenantDatabase, scanId: string): Promise<ScanRow> {
  const [row] = await db
    .update(scans)
    .set({ cancelRequested: true })
    .where(and(isOpen(scanId), eq(scans.cancelRequested, false)))
    .returning();
  if (row === undefined) {
    const stored = await selectScan(db, scanId);
    if (hasEnded(stored.status)) throw ended();
    return stored;
  }
  const detail = { cancel_requested: { from: false, to: true } };
  await audit(db, [{ tenantId: row.tenantId, action: "scan.cancel_requested", targetId: scanId, detail }]);
  return row;
}

/**
 * Deletes a scan with its findings and its report; nothing is stored of it from the first step on. One that ran has ended with that
 * step, and is given to `onEnd` before it goes. Rejects with `NotFound`. Each step is a transaction, and the same call again goes
 * on where one was interrupted.
 */
export async function deleteScan(
  write: Access["write"],
  scanId: string,
  onEnd: (scan: EndedScan) => Promise<void>,
): Promise<ScanRow> {
  const [open] = await write((db) =>
    db
      .update(scans)
      .set({ status: "cancelled", endedAt: sql`now()` })
      .where(isOpen(scanId))
      .returning(),
  );
  if (open !== undefined) await onEnd({ ...open, status: "cancelled", not_applicable: open.notApplicable });
  const deleted = await deleteInBatches(
    (maxRows) =>
      write(async (db) => {
        if (await deleteSome(db, findings, eq(findings.scanId, scanId), maxRows)) return null;
        const rows = await db
          .delete(scans)
          .where(and(eq(scans.id, scanId), isNotNull(scans.endedAt)))
          .returning();
        await deleteNumbering(
          db,
          rows.map((row) => scanChannel(row.tenantId, row.id)),
        );
        await auditRows(db, "scan.deleted", scans, rows);
        return rows;
      }),
    (rows) => rows !== null,
  );
  return requireScan(deleted ?? []);
}

export function ended(): AppError {
  return new AppError("conflict", "The scan has ended and cannot be changed");
}

/** In the WHERE of each write: of two that race to end a scan, one finds it ended. */
function isOpen(scanId: string): SQL | undefined {
  return and(eq(scans.id, scanId), inArray(scans.status, ["pending", "running"]));
}

type Counts = Pick<ScanRow, "checksDone" | "checksTotal" | "pass" | "fail" | "manual" | "notApplicable">;
type GivenCounts = { readonly [Name in keyof Counts]: number | undefined };

/** What is given next to what is stored. A total of 0 is not known yet. */
function areConsistent(given: GivenCounts): SQL {
  const of = (name: keyof Counts) => {
    const count = given[name];
    return count === undefined ? sql`${scans[name]}::bigint` : sql`${count}::bigint`;
  };
  return sql`(${of("checksTotal")} = 0 or ${of("checksDone")} <= ${of("checksTotal")})
    and ${of("pass")} + ${of("fail")} + ${of("manual")} + ${of("notApplicable")} <= ${of("checksDone")}`;
}

function withoutUndefined(given: GivenCounts): Partial<Counts> {
  return Object.fromEntries(Object.entries(given).filter(([, count]) => count !== undefined));
}

/** Says which of the two rules the counts break. */
function impossibleCounts({ checksDone, checksTotal, pass, fail, manual, notApplicable }: Counts): InvalidBody {
  if (checksTotal !== 0 && checksDone > checksTotal) {
    const detail = `is ${checksDone}, more than checks_total (${checksTotal})`;
    return new InvalidBody([{ pointer: "/checks_done", detail }]);
  }
  const detail = `is not consistent: pass, fail, manual and not_applicable add up to ${pass + fail + manual + notApplicable}, more than checks_done (${checksDone})`;
  return new InvalidBody([{ pointer: "", detail }]);
}
