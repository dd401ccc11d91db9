import { and, asc, eq, getTableColumns, sql } from "drizzle-orm";
import { findings } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { rowsOfPage, type PageRequest } from "../../http/paging.ts";
import { ended, selectScan } from "./scan_store.ts";
import { toCheckName } from "../../../shared/rule_names.ts";
import { findingEntries, type StoredFinding } from "../../../shared/schemas/finding.ts";
import { mapNotes, notesOf } from "../../../shared/schemas/finding_notes.ts";
import type { NewFinding } from "../../../shared/schemas/scan_requests.ts";

export type FindingRow = Omit<typeof findings.$inferSelect, "tenantId" | "scanId">;

/** A finding's fields in the database but its notes, by the property of the row. The schema of findings says which they are. */
const fields = Object.entries(getTableColumns(findings)).filter(([, { name }]) => name in findingEntries);
const fieldSql = toFieldSql();

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
  const {
    rows: [counts],
  } = await db.execute<{ scans: number; created: number; updated: number }>(sql`
    with scan as (
      update scans set updated_at = now()
      where id = ${scanId}::uuid and status in ('pending', 'running')
      returning tenant_id, id
    ), given as (
      select * from jsonb_to_recordset(${JSON.stringify(toRows(given))}::jsonb) as row (${fieldSql.typed})
    ), stored as (
      insert into findings (tenant_id, scan_id, ${fieldSql.names})
      select scan.tenant_id, scan.id, ${fieldSql.names} from scan, given
      on conflict (tenant_id, scan_id, fingerprint) do update set ${fieldSql.replaced}
      returning (xmax = 0) as is_new
    )
    select (select count(*)::integer from scan) as scans,
      (select count(*)::integer from stored where is_new) as created,
      (select count(*)::integer from stored where not is_new) as updated`);
  if (counts !== undefined && counts.scans > 0) return { created: counts.created, updated: counts.updated };
  await selectScan(db, scanId);
  throw ended();
}

/** In the order they were stored, one row beyond the limit, or beyond what a page may weigh. */
export async function selectFindings(
  db: TenantDatabase,
  scanId: string,
  page: PageRequest,
): Promise<readonly FindingRow[]> {
  const after =
    page.after === null
      ? undefined
      : sql`(${findings.createdAt}, ${findings.fingerprint}) > (${page.after.createdAt.toISOString()}::timestamptz, ${page.after.key})`;
  const { fingerprint, createdAt, expected, actual, detail, notes } = findings;
  const bytes = sql`octet_length(${expected}) + octet_length(${actual}) + octet_length(${detail})
    + octet_length(${notes}::text)`;
  const order = sql`${asc(createdAt)}, ${asc(fingerprint)}`;
  const candidates = sql`
    select *, ${bytes} as bytes from ${findings}
    where ${and(eq(findings.scanId, scanId), after)} order by ${order} limit ${page.limit + 1}::integer`;
  return db
    .select(getTableColumns(findings))
    .from(rowsOfPage(findings, candidates, order))
    .orderBy(order);
}

/** A stored finding, with the words of the `finding.created` event, so that a client merges both. */
export function toFinding(row: FindingRow): StoredFinding {
  const values: Readonly<Record<string, unknown>> = row;
  const entries = fields.map(([property, { name }]) => [name, values[property]]);
  const notes = mapNotes((name) => row.notes[name] ?? null);
  // `fromEntries` forgets which field has which type; the columns are declared with the schema's types.
  return { ...Object.fromEntries(entries), ...notes, created_at: row.createdAt.toISOString() } as StoredFinding;
}

/** One row per fingerprint: a statement may not write the same row twice, and the last one counts. */
function toRows(given: readonly NewFinding[]): readonly object[] {
  return [
    ...new Map(given.map(({ resource, ...finding }) => [finding.fingerprint, toRow(finding, resource)])).values(),
  ];
}

function toRow(finding: Omit<NewFinding, "resource">, resource: NewFinding["resource"]): object {
  return {
    resource_type: resource?.type ?? "",
    resource_id: resource?.id ?? "",
    resource_name: resource?.name ?? "",
    ...finding,
    check: toCheckName(finding.check),
    ...mapNotes(() => undefined),
    notes: notesOf(finding),
  };
}

/** Each field is named, so that no value can end up in another field's column. */
function toFieldSql() {
  const columns = [...fields.map(([, column]) => column), findings.notes].map((column) => ({
    name: `"${column.name}"`,
    type: column.getSQLType(),
  }));
  const list = (toText: (column: (typeof columns)[number]) => string) => sql.raw(columns.map(toText).join(", "));
  return {
    names: list(({ name }) => name),
    typed: list(({ name, type }) => `${name} ${type}`),
    replaced: list(({ name }) => `${name} = excluded.${name}`),
  };
}
