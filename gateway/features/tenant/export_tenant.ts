import { getTableColumns, getTableName, sql, type SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { currentTenantId } from "../../../drizzle/policies.ts";
import {
  apiKeys,
  changes,
  columnsOfRuns,
  decisions,
  findings,
  memberships,
  observations,
  organizations,
  published,
  runs,
  scanReports,
} from "../../../drizzle/schema.ts";
import type { Tenant } from "../../../shared/schemas/team.ts";
import type { Access } from "../../auth/membership.ts";
import type { RunKind } from "../runs/run.ts";

/** A table of which every row belongs to one tenant, by its column `tenant_id`. */
interface ExportedTable {
  readonly table: PgTable;
  /** Given: of the runs those of one kind, as if they had a table of their own. */
  readonly kind?: RunKind;
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
  { table: runs, kind: "scan", key: [runs.id] },
  { table: findings, key: [findings.scanId, findings.fingerprint] },
  { table: scanReports, key: [scanReports.scanId], pageRows: 1 },
  { table: runs, kind: "monitor", key: [runs.id] },
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
): AsyncGenerator<string> {
  const exported_at = new Date().toISOString();
  yield `${JSON.stringify({ schema: "scanstream.export/1", tenant_id, name, exported_at })}\n`;
  const counts: Record<string, number> = {};
  for (const exported of exportedTables) {
    const table = exported.kind === undefined ? getTableName(exported.table) : `${exported.kind}s`;
    counts[table] = 0;
    for await (const rows of readPages(read, exported)) {
      counts[table] += rows.length;
      yield rows.map((row) => `{"table":${JSON.stringify(table)},"row":${row}}\n`).join("");
    }
  }
  yield `${JSON.stringify({ end: true, rows: counts })}\n`;
}

/** Reads the rows of the transaction's tenant, a page in each transaction. The database makes the JSON of each row once. */
async function* readPages(
  read: Access["read"],
  { table, kind, key, pageRows = maxPageRows, secrets = [] }: ExportedTable,
): AsyncGenerator<readonly string[]> {
  const ofKind = kind === undefined ? sql`` : sql`and kind = ${kind}`;
  const columns = Object.values(kind === undefined ? getTableColumns(table) : columnsOfRuns(kind)).filter(
    // The name of their table says the kind.
    (column) =>
      column !== runs.kind && column.generated === undefined && !secrets.some(({ name }) => name === column.name),
  );
  const keyTexts = key.map(({ name }) => sql`${sql.identifier(name)}::text`);
  for (let isAfter = sql``; ;) {
    const page = sql`
      select row_to_json(stored)::text as json, array_to_json(array[${sql.join(keyTexts, sql`, `)}])::text as key
      from (
        select ${namesOf(columns)} from ${table}
        where tenant_id = ${currentTenantId} ${ofKind} ${isAfter}
        order by ${namesOf(key)} limit ${pageRows}::integer
      ) as stored order by ${namesOf(key)}`;
    const { rows } = await read((db) => db.execute<{ json: string; key: string }>(page));
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(({ json }) => json);
    const after = JSON.parse(last.key) as readonly string[];
    const values = key.map((column, index) => sql`${after[index]}::${sql.raw(column.getSQLType())}`);
    isAfter = sql`and (${namesOf(key)}) > (${sql.join(values, sql`, `)})`;
  }
}

function namesOf(columns: readonly PgColumn[]): SQL {
  return sql.join(
    columns.map(({ name }) => sql.identifier(name)),
    sql`, `,
  );
}
