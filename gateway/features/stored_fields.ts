import { getTableColumns, is, SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type * as v from "valibot";
import { columnsOf } from "../../drizzle/audit.ts";
import type { Output } from "../../shared/schemas/primitives.ts";

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
  const columns = Object.values(getTableColumns(table)).filter((column) => !is(column.default, SQL));
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
