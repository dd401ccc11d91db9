import { and, desc, eq, inArray, type SQL, sql } from "drizzle-orm";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { scans } from "../../../drizzle/schema.ts";
import type { TenantTransaction } from "../../../drizzle/with_tenant.ts";
import type { PageRequest } from "../../paging.ts";
import type { Principal } from "../../principal.ts";
import { InvalidBody } from "../../problem.ts";
import { hasEnded, type ScanRow } from "./scan.ts";
import type { NewScan, ScanUpdate } from "./schemas.ts";

/** The scans of the transaction's tenant. Each write is one statement that checks for itself what it depends on. */

export async function insertScan(tx: TenantTransaction, principal: Principal, scan: NewScan): Promise<ScanRow> {
  const [row] = await tx
    .insert(scans)
    .values({
      tenantId: principal.tenantId,
      orgUrl: scan.org_url ?? null,
      clientId: scan.client_id ?? null,
      checksTotal: scan.checks_total ?? 0,
      createdBy: principal.id,
    })
    .returning();
  if (row === undefined) throw new Error("Cannot register a scan: the insert returned no row");
  return row;
}

/** Rejects with `NotFound` for another tenant's scan as for one that never was. */
export async function selectScan(tx: TenantTransaction, scanId: string): Promise<ScanRow> {
  const [row] = await tx.select().from(scans).where(eq(scans.id, scanId));
  if (row === undefined) throw new NotFound("No such scan");
  return row;
}

/** Newest first, one row beyond the limit. */
export async function selectScans(tx: TenantTransaction, page: PageRequest): Promise<readonly ScanRow[]> {
  const after =
    page.after === null
      ? undefined
      : sql`(${scans.createdAt}, ${scans.id}) < (${page.after.createdAt.toISOString()}::timestamptz, ${page.after.key}::uuid)`;
  return tx
    .select()
    .from(scans)
    .where(after)
    .orderBy(desc(scans.createdAt), desc(scans.id))
    .limit(page.limit + 1);
}

/** A producer's report of progress, and its sign of life. Rejects with `NotFound`, `AppError("conflict")` or `InvalidBody`. */
export async function updateScan(tx: TenantTransaction, scanId: string, update: ScanUpdate): Promise<ScanRow> {
  requireConsistent(update.checks_done, update.checks_total);
  const checksTotal = orStored(update.checks_total, scans.checksTotal);
  const checksDone = orStored(update.checks_done, scans.checksDone);
  const isEnd = update.status !== undefined && hasEnded(update.status);
  const [row] = await tx
    .update(scans)
    .set({
      updatedAt: sql`now()`,
      ...(update.status === undefined
        ? {}
        : { status: update.status, startedAt: sql`coalesce(${scans.startedAt}, now())` }),
      ...(isEnd ? { endedAt: sql`now()` } : {}),
      ...(update.checks_done === undefined ? {} : { checksDone: update.checks_done }),
      ...(update.checks_total === undefined ? {} : { checksTotal: update.checks_total }),
      ...(update.pass === undefined ? {} : { pass: update.pass }),
      ...(update.fail === undefined ? {} : { fail: update.fail }),
      ...(update.manual === undefined ? {} : { manual: update.manual }),
    })
    // A total of 0 is one that nobody named yet.
    .where(and(isOpen(scanId), sql`(${checksTotal} = 0 or ${checksDone} <= ${checksTotal})`))
    .returning();
  if (row !== undefined) return row;
  const stored = await selectScan(tx, scanId);
  if (hasEnded(stored.status)) throw ended();
  throw tooManyDone(update.checks_done ?? stored.checksDone, update.checks_total ?? stored.checksTotal);
}

/** Asks the producer to stop; it learns it from the answer to its next report. Rejects with `NotFound` or `AppError("conflict")`. */
export async function requestCancel(tx: TenantTransaction, scanId: string): Promise<ScanRow> {
  const [row] = await tx.update(scans).set({ cancelRequested: true }).where(isOpen(scanId)).returning();
  if (row !== undefined) return row;
  await selectScan(tx, scanId);
  throw ended();
}

export function ended(): AppError {
  return new AppError("conflict", "The scan has ended: nothing changes it any more");
}

/** In the WHERE of each write: of two that race to end a scan, one finds it ended. */
function isOpen(scanId: string): SQL | undefined {
  return and(eq(scans.id, scanId), inArray(scans.status, ["pending", "running"]));
}

function orStored(
  given: number | undefined,
  column: SQL.Aliased | typeof scans.checksTotal | typeof scans.checksDone,
): SQL {
  return given === undefined ? sql`${column}` : sql`${given}::integer`;
}

function requireConsistent(checksDone: number | undefined, checksTotal: number | undefined): void {
  if (checksDone === undefined || checksTotal === undefined || checksDone <= checksTotal) return;
  throw tooManyDone(checksDone, checksTotal);
}

function tooManyDone(checksDone: number, checksTotal: number): InvalidBody {
  const detail = `is ${checksDone}, more than checks_total, which is ${checksTotal}`;
  return new InvalidBody([{ pointer: "/checks_done", detail }]);
}
