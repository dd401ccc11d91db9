import { and, asc, eq, sql } from "drizzle-orm";
import { findings } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/with_tenant.ts";
import type { PageRequest } from "../../http/paging.ts";
import type { FindingRow } from "./scan.ts";
import { ended, selectScan } from "./scan_store.ts";
import { toCheckName } from "../../../shared/rule_names.ts";
import type { NewFinding } from "../../../shared/schemas/scan_requests.ts";

export interface StoredCounts {
  readonly created: number;
  readonly updated: number;
}

/**
 * Stores findings of a scan that has not ended; the same fingerprint again replaces what was stored under it. One
 * statement, so that the scan cannot end in between. Rejects with `NotFound` or `AppError("conflict")`.
 */
export async function storeFindings(
  db: TenantDatabase,
  scanId: string,
  given: readonly NewFinding[],
): Promise<StoredCounts> {
  const [counts] = await db.execute<{ scans: number; created: number; updated: number }>(sql`
    with scan as (
      update scans set updated_at = now()
      where id = ${scanId}::uuid and status in ('pending', 'running')
      returning tenant_id, id
    ), given as (
      select * from jsonb_to_recordset(${JSON.stringify(toRows(given))}::jsonb) as row (
        fingerprint text, "check" text, status text, reason text, severity text, resource_type text, resource_id text,
        resource_name text, expected text, actual text, detail text, coverage text, coverage_reason text, cause text,
        to_pass text, evaluation text, advisory boolean)
    ), stored as (
      insert into findings (tenant_id, scan_id, fingerprint, "check", status, reason, severity, resource_type,
        resource_id, resource_name, expected, actual, detail, coverage, coverage_reason, cause, to_pass, evaluation,
        advisory)
      select scan.tenant_id, scan.id, given.* from scan, given
      on conflict (tenant_id, scan_id, fingerprint) do update set
        "check" = excluded."check", status = excluded.status, reason = excluded.reason, severity = excluded.severity,
        resource_type = excluded.resource_type, resource_id = excluded.resource_id,
        resource_name = excluded.resource_name, expected = excluded.expected, actual = excluded.actual,
        detail = excluded.detail, coverage = excluded.coverage, coverage_reason = excluded.coverage_reason,
        cause = excluded.cause, to_pass = excluded.to_pass, evaluation = excluded.evaluation,
        advisory = excluded.advisory
      returning (xmax = 0) as is_new
    )
    select (select count(*)::integer from scan) as scans,
      (select count(*)::integer from stored where is_new) as created,
      (select count(*)::integer from stored where not is_new) as updated`);
  if (counts !== undefined && counts.scans > 0) return { created: counts.created, updated: counts.updated };
  await selectScan(db, scanId);
  throw ended();
}

/** In the order they were stored, one row beyond the limit. */
export async function selectFindings(
  db: TenantDatabase,
  scanId: string,
  page: PageRequest,
): Promise<readonly FindingRow[]> {
  const after =
    page.after === null
      ? undefined
      : sql`(${findings.createdAt}, ${findings.fingerprint}) > (${page.after.createdAt.toISOString()}::timestamptz, ${page.after.key})`;
  return db
    .select()
    .from(findings)
    .where(and(eq(findings.scanId, scanId), after))
    .orderBy(asc(findings.createdAt), asc(findings.fingerprint))
    .limit(page.limit + 1);
}

/** One row per fingerprint: a statement may not write the same row twice, and the last one counts. */
function toRows(given: readonly NewFinding[]): readonly Readonly<Record<string, string | boolean | null>>[] {
  const rows = new Map<string, Readonly<Record<string, string | boolean | null>>>();
  for (const finding of given) {
    rows.set(finding.fingerprint, {
      fingerprint: finding.fingerprint,
      check: toCheckName(finding.check),
      status: finding.status,
      reason: finding.reason ?? null,
      severity: finding.severity,
      resource_type: finding.resource_type ?? finding.resource?.type ?? "",
      resource_id: finding.resource_id ?? finding.resource?.id ?? "",
      resource_name: finding.resource_name ?? finding.resource?.name ?? "",
      expected: finding.expected,
      actual: finding.actual,
      detail: finding.detail,
      coverage: finding.coverage,
      coverage_reason: finding.coverage_reason ?? null,
      cause: finding.cause ?? null,
      to_pass: finding.to_pass ?? null,
      evaluation: finding.evaluation ?? null,
      advisory: finding.advisory,
    });
  }
  return [...rows.values()];
}
