import { and, asc, eq, getTableColumns, sql } from "drizzle-orm";
import { findings } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { NotFound } from "../../../shared/app_error.ts";
import { isUuid, type ChannelName } from "../../../shared/channel_name.ts";
import type { CheckedEvent } from "../../../shared/event.ts";
import { parseBody } from "../../http/body.ts";
import { rowsOfPage, type PageRequest } from "../../http/paging.ts";
import { InvalidBody } from "../../http/problem.ts";
import { ended, selectScan } from "./scan_store.ts";
import { toCheckName } from "../../../shared/rule_names.ts";
import { findingEntries, type StoredFinding } from "../../../shared/schemas/finding.ts";
import { mapNotes, notesOf } from "../../../shared/schemas/finding_notes.ts";
import { scanEventSchemas, type FindingCreated } from "../../../shared/schemas/scan_events.ts";

export type FindingRow = Omit<typeof findings.$inferSelect, "tenantId" | "scanId">;

/** A finding's fields in the database but its notes, by the property of the row. The schema of findings says which they are. */
const fields = Object.entries(getTableColumns(findings)).filter(([, { name }]) => name in findingEntries);
const fieldSql = toFieldSql();

/**
 * Stores the findings that are published of a scan that has not ended, each once by its fingerprint: the same one again replaces
 * what was stored under it. One statement, so that the scan cannot end in between; it is also the producer's heartbeat. Rejects
 * with `NotFound`, `AppError("conflict")` or `InvalidBody`.
 */
export async function storePublished(
  db: TenantDatabase,
  events: readonly CheckedEvent[],
  { resourceId: scanId }: ChannelName,
): Promise<readonly []> {
  if (!isUuid(scanId)) throw new NotFound("No such scan");
  const given = events.flatMap(({ type, payload }) =>
    type === "finding.created" ? [requireFinding(payload, scanId)] : [],
  );
  const {
    rows: [row],
  } = await db.execute<{ scans: number }>(sql`
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
    )
    select count(*)::integer as scans from scan`);
  if (row?.scans === 1) return [];
  await selectScan(db, scanId);
  throw ended();
}

function requireFinding(payload: unknown, scanId: string): FindingCreated {
  const finding = parseBody(scanEventSchemas["finding.created"], payload, "/data");
  if (finding.scan_id === scanId) return finding;
  throw new InvalidBody([{ pointer: "/data/scan_id", detail: `expected ${scanId}, the scan of the channel` }]);
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
function toRows(given: readonly FindingCreated[]): readonly object[] {
  return [...new Map(given.map((finding) => [finding.fingerprint, toRow(finding)])).values()];
}

function toRow(finding: FindingCreated): object {
  return {
    resource_type: "",
    resource_id: "",
    expected: "",
    actual: "",
    advisory: false,
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
