import { getTableColumns, getTableName, sql, type SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { currentTenantId } from "../../../drizzle/policies.ts";
import {
  apiKeys,
  changes,
  decisions,
  findings,
  memberships,
  monitors,
  observations,
  organizations,
  published,
  scanReports,
  scans,
} from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import type { Tenant } from "../../../shared/schemas/team.ts";
import type { Access } from "../../auth/membership.ts";

/** A table of which every row belongs to one tenant, by its column `tenant_id`. */
interface ExportedTable {
  readonly table: PgTable;
  /** With the tenant unique: a page begins after one. */
  readonly key: readonly PgColumn[];
  /** How many rows a page has at most, where they are large. */
  readonly pageRows?: number;
  /** Stay here. */
  readonly secrets?: readonly PgColumn[];
}

/**
 * The rows of an exported tenant, each table after the ones that it refers to. The audit trail stays with the gateway
 * where it happened.
 */
const exportedTables: readonly ExportedTable[] = [
  { table: memberships, key: [memberships.userId] },
  { table: apiKeys, key: [apiKeys.id], secrets: [apiKeys.hash] },
  { table: organizations, key: [organizations.id] },
  { table: observations, key: [observations.runId, observations.knownFrom] },
  { table: scans, key: [scans.id] },
  { table: findings, key: [findings.scanId, findings.fingerprint] },
  { table: scanReports, key: [scanReports.scanId], pageRows: 1 },
  { table: monitors, key: [monitors.id] },
  { table: changes, key: [changes.monitorId, changes.id] },
  { table: published, key: [published.channel, published.producer] },
  { table: decisions, key: [decisions.id] },
];

/** A page of the largest rows is held in memory. */
const maxPageRows = 50;

/**
 * The lines of an exported tenant, a page at a time: the header, then `{"table", "row"}` for each row, then how many there are of
 * each table. Where the last line is missing, the file was cut.
 */
export async function* exportTenant(
  read: Access["read"],
  { id: tenant_id, name }: Pick<Tenant, "id" | "name">,
  nowMs: number,
): AsyncGenerator<string> {
  const exported_at = new Date(nowMs).toISOString();
  yield `${JSON.stringify({ schema: "scanstream.export/1", tenant_id, name, exported_at })}\n`;
  const counts: Record<string, number> = {};
  for (const exported of exportedTables) {
    const table = getTableName(exported.table);
    counts[table] = 0;
    let after: readonly string[] | null = null;
    do {
      const page: Awaited<ReturnType<typeof readExportPage>> = await read((db) => readExportPage(db, exported, after));
      counts[table] += page.rows.length;
      if (page.rows.length > 0)
        yield page.rows.map((row) => `{"table":${JSON.stringify(table)},"row":${row}}\n`).join("");
      after = page.next;
    } while (after !== null);
  }
  yield `${JSON.stringify({ end: true, rows: counts })}\n`;
}

/** Reads rows of the transaction's tenant: the JSON of each, and the key of the last one; without a key the table has no more. */
async function readExportPage(
  db: TenantDatabase,
  { table, key, pageRows = maxPageRows, secrets = [] }: ExportedTable,
  after: readonly string[] | null,
): Promise<{ readonly rows: readonly string[]; readonly next: readonly string[] | null }> {
  const columns = Object.values(getTableColumns(table)).filter(
    (column) => column.generated === undefined && !secrets.some(({ name }) => name === column.name),
  );
  const values = key.map((column, index) => sql`${after?.[index] ?? ""}::${sql.raw(column.getSQLType())}`);
  const isAfter = after === null ? sql`` : sql`and (${namesOf(key)}) > (${sql.join(values, sql`, `)})`;
  const keyTexts = key.map(({ name }) => sql`${sql.identifier(name)}::text`);
  // The database makes the JSON of each row once.
  const { rows } = await db.execute<{ json: string; key: string }>(sql`
    select row_to_json(stored)::text as json, array_to_json(array[${sql.join(keyTexts, sql`, `)}])::text as key
    from (
      select ${namesOf(columns)} from ${table}
      where tenant_id = ${currentTenantId} ${isAfter}
      order by ${namesOf(key)} limit ${pageRows}::integer
    ) as stored order by ${namesOf(key)}`);
  const last = rows.at(-1);
  return { rows: rows.map(({ json }) => json), next: last === undefined ? null : JSON.parse(last.key) };
}

function namesOf(columns: readonly PgColumn[]): SQL {
  return sql.join(
    columns.map(({ name }) => sql.identifier(name)),
    sql`, `,
  );
}
