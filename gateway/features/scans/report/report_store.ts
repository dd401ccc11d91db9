import { and, eq, ne, sql } from "drizzle-orm";
import { constraintViolation } from "../../../../drizzle/database_error.ts";
import { scanReportParts, scanReports } from "../../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../../drizzle/transactions.ts";
import { fromBase64, toBase64 } from "../../../../shared/base64.ts";
import { AppError, NotFound } from "../../../../shared/app_error.ts";
import type { Access } from "../../../auth/membership.ts";
import { selectScan } from "../scan_store.ts";
import type { ReceivedReport } from "./read_report.ts";

export type ReportRow = typeof scanReports.$inferSelect;

/**
 * Stores the report of a scan, once: the same again is no change. A reader finds it when its last part is stored. Rejects with
 * `NotFound`, or with `AppError("conflict")` where another report is stored.
 */
export async function storeReport(
  { read, write }: Pick<Access, "read" | "write">,
  scanId: string,
  { digest, sizeBytes, parts }: ReceivedReport,
): Promise<{ readonly isNew: boolean }> {
  const stored = await read(async (db) => {
    const found = await findReport(db, scanId);
    if (found === null) await selectScan(db, scanId);
    return found;
  });
  if (stored?.digest === digest) return { isNew: false };
  if (stored !== null) throw anotherReport();
  const uploadId = crypto.randomUUID();
  try {
    // A transaction for each part: all of them would take too long.
    for (const [part, content] of parts.entries()) {
      await write((db) =>
        db.execute(sql`
          insert into scan_report_parts (tenant_id, scan_id, upload_id, part, content)
          select tenant_id, id, ${uploadId}::uuid, ${part}::integer, decode(${toBase64(content)}, 'base64')
          from scans where id = ${scanId}::uuid`),
      );
    }
    const kept = await write(async (db) => {
      await db.execute(sql`
        insert into scan_reports (tenant_id, scan_id, upload_id, digest, size_bytes, part_count)
        select tenant_id, id, ${uploadId}::uuid, ${digest}, ${sizeBytes}::integer, ${parts.length}::integer
        from scans where id = ${scanId}::uuid on conflict do nothing`);
      // The first to finish is the report of the scan; the parts of others go.
      const first = await selectReport(db, scanId);
      const isOther = and(eq(scanReportParts.scanId, scanId), ne(scanReportParts.uploadId, first.uploadId));
      await db.delete(scanReportParts).where(isOther);
      return first;
    });
    if (kept.digest === digest) return { isNew: true };
  } catch (error) {
    // It was deleted in the meantime.
    if (constraintViolation(error)?.kind === "foreign_key") throw new NotFound("No such scan");
    throw error;
  }
  throw anotherReport();
}

/** Rejects with `NotFound`. */
export async function selectReport(db: TenantDatabase, scanId: string): Promise<ReportRow> {
  const row = await findReport(db, scanId);
  if (row !== null) return row;
  await selectScan(db, scanId);
  throw new NotFound("No report was uploaded for this scan");
}

/** Gzip. Rejects with `NotFound` for a part that was deleted in the meantime. */
export async function selectPart(
  db: TenantDatabase,
  report: ReportRow,
  part: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const { scanId, uploadId } = report;
  const {
    rows: [row],
  } = await db.execute<{ content: string }>(sql`
    select encode(content, 'base64') as content from scan_report_parts
    where scan_id = ${scanId}::uuid and upload_id = ${uploadId}::uuid and part = ${part}::integer
      and tenant_id = ${report.tenantId}::uuid`);
  if (row === undefined) throw new NotFound("No report was uploaded for this scan");
  return fromBase64(row.content);
}

async function findReport(db: TenantDatabase, scanId: string): Promise<ReportRow | null> {
  const [row] = await db.select().from(scanReports).where(eq(scanReports.scanId, scanId));
  return row ?? null;
}

function anotherReport(): AppError {
  return new AppError("conflict", "A different report of this scan is stored already");
}
