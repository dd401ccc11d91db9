import { getTableColumns, getTableName, is, lte, SQL, sql, type SQLWrapper } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type * as v from "valibot";
import { columnsOf } from "../../drizzle/audit.ts";
import type { TenantDatabase } from "../../drizzle/transactions.ts";
import type { Output } from "../../shared/schemas/primitives.ts";

/** Rows for one statement: the largest ones are deleted within its time, too. */
export const maxDeletedRows = 2000;

/** Repeats a step of a deletion until it is the last; null: there may be more. Every step is a transaction, and safe to repeat. */
export async function deleteInBatches<Answer>(step: () => Promise<Answer | null>): Promise<Answer> {
  for (;;) {
    const answer = await step();
    if (answer !== null) return answer;
  }
}

/** Deletes rows that fulfil the condition, a bounded number; true: there may be more, also where another deletion took these. */
export async function deleteSome(db: TenantDatabase, table: PgTable, condition: SQL): Promise<boolean> {
  const { rows } = await db.execute(sql`
    with found as materialized (select ctid from ${table} where ${condition} limit ${maxDeletedRows}::integer),
      deleted as (delete from ${table} where ctid = any (array(select ctid from found)))
    select 1 from found`);
  return rows.length >= maxDeletedRows;
}

interface SizedRows<Table> {
  /** Default: the table itself. A query in its place has its name and its columns. */
  readonly from?: Table | undefined;
  readonly where: SQL | undefined;
  readonly by: SQL;
  readonly limit: number;
  readonly size: SQLWrapper;
  /** The last row is the first with which all of them are larger than this. */
  readonly maxSize: number;
}

/** Reads a list up to one row beyond the limit, and no more rows than an answer has room for. */
export async function selectUpTo<Table extends PgTable>(
  db: TenantDatabase,
  table: Table,
  { from = table, where, by, limit, size, maxSize }: SizedRows<Table>,
): Promise<readonly Table["$inferSelect"][]> {
  const before = sql`coalesce(sum(${size}) over (order by ${by} rows between unbounded preceding and 1 preceding), 0)`;
  const listed = db
    .select({ ...getTableColumns<PgTable>(table), sizeBefore: before.as("size_before") })
    .from(from as PgTable)
    .where(where)
    .orderBy(by)
    .limit(limit + 1)
    .as(getTableName(table));
  return db.select().from(listed).where(lte(listed.sizeBefore, maxSize)).orderBy(by);
}

/** A field of the API has the name of its column: a new one needs its column and its schema, and no line that copies it. */

/** The fields of a schema, from a row and from `more`, which wins. Times become ISO 8601. */
export function toFields<Schema extends v.ObjectSchema<v.ObjectEntries, undefined>>(
  { entries }: Schema,
  { table, row }: { readonly table: PgTable; readonly row: object },
  more: Readonly<Record<string, unknown>> = {},
): Output<Schema> {
  const values = { ...columnsOf(table, { ...row }), ...more };
  const fields = Object.keys(entries).map((name) => [name, toJson(values[name])]);
  // `fromEntries` forgets which field has which type; the columns are declared with the schema's types.
  return Object.fromEntries(fields) as Output<Schema>;
}

function toJson(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

/** The fields of a body that are columns, under the names that the row has for them. */
export function toValues<Row extends object>(table: PgTable, body: Readonly<Record<string, unknown>>): Partial<Row> {
  const values = Object.entries(getTableColumns(table)).flatMap(([property, { name, dataType }]) => {
    const value = body[name];
    if (value === undefined) return [];
    return [[property, dataType === "date" && typeof value === "string" ? new Date(value) : value]];
  });
  return Object.fromEntries(values) as Partial<Row>;
}

/** A row of what the columns hold where nothing is given. The database sets times. */
export function emptyRow(table: PgTable): Readonly<Record<string, unknown>> {
  const columns = Object.values(getTableColumns(table)).filter(
    ({ default: value, generated }) => !is(value, SQL) && generated === undefined,
  );
  return Object.fromEntries(columns.map((column) => [column.name, column.default ?? null]));
}

/** Inserts rows that have the names of their columns. One parameter carries them all; other fields are left out. */
export function insertRows(table: PgTable, rows: readonly object[]): SQL {
  const names = sql.join(columnsIn(table, rows), sql`, `);
  return sql`insert into ${table} (${names})
    select ${names} from jsonb_populate_recordset(null::${table}, ${JSON.stringify(rows)}::jsonb)`;
}

/** As `insertRows`; a row takes the place of one with the same key. */
export function replaceRows(table: PgTable, rows: readonly object[], key: readonly string[]): SQL {
  const keyNames = sql.join(key.map(sql.identifier), sql`, `);
  const changed = columnsIn(table, rows).map((name) => sql`${name} = excluded.${name}`);
  return sql`${insertRows(table, rows)} on conflict (${keyNames}) do update set ${sql.join(changed, sql`, `)}`;
}

function columnsIn(table: PgTable, [first]: readonly object[]): Name[] {
  const columns = Object.values(getTableColumns(table)).filter(({ name }) => first === undefined || name in first);
  return columns.map(({ name }) => sql.identifier(name));
}

type Name = ReturnType<typeof sql.identifier>;
