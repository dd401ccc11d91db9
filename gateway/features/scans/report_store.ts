import { eq, sql } from "drizzle-orm";
import { scanReports } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { fromBase64, toBase64 } from "../../../shared/base64.ts";
import { selectScan } from "./scan_store.ts";

export interface NewReport {
  /** Gzip. */
  readonly body: Uint8Array;
  /** Digest of the body, in hexadecimal digits. */
  readonly sha256: string;
}

/** Stores the report of a scan, once. Rejects with `NotFound`, or with `AppError("conflict")` where another report is stored. */
export async function storeReport(
  db: TenantDatabase,
  scanId: string,
  { body, sha256 }: NewReport,
): Promise<{ readonly isNew: boolean }> {
  // Base64, because not every driver sends bytes.
  const { rows } = await db.execute(sql`
    insert into scan_reports (tenant_id, scan_id, body, sha256, size_bytes)
    select tenant_id, id, decode(${toBase64(body)}, 'base64'), ${sha256}, ${body.length}::integer
    from scans where id = ${scanId}::uuid for key share
    on conflict do nothing returning scan_id`);
  if (rows.length > 0) return { isNew: true };
  if ((await selectSha256(db, scanId)) === sha256) return { isNew: false };
  throw new AppError("conflict", "A different report of this scan is stored already: delete the scan to replace it");
}

/** Rejects with `NotFound`. */
export async function selectSha256(db: TenantDatabase, scanId: string): Promise<string> {
  const [row] = await db.select({ sha256: scanReports.sha256 }).from(scanReports).where(eq(scanReports.scanId, scanId));
  if (row !== undefined) return row.sha256;
  await selectScan(db, scanId);
  throw noReport();
}

/** Gzip. Rejects with `NotFound` if it was deleted in the meantime. */
export async function selectBody(db: TenantDatabase, scanId: string): Promise<Uint8Array<ArrayBuffer>> {
  const {
    rows: [row],
  } = await db.execute<{ body: string }>(
    sql`select encode(body, 'base64') as body from scan_reports where scan_id = ${scanId}::uuid`,
  );
  if (row === undefined) throw noReport();
  return fromBase64(row.body);
}

function noReport(): NotFound {
  return new NotFound("No report was uploaded for this scan");
}
