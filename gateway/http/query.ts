import { and, desc, sql, type SQL } from "drizzle-orm";
import type { PgColumn, PgSelect } from "drizzle-orm/pg-core";
import type { Context } from "hono";
import { base64url } from "jose";
import * as v from "valibot";
import { AppError } from "../../shared/app_error.ts";
import { lowerCaseUuids } from "../../shared/channel_name.ts";
import { requireCheckName } from "../../shared/rule_names.ts";
import { described, instant, maxTimeMs, text } from "../../shared/schemas/primitives.ts";
import type { Parameter } from "../description/operation.ts";

/** The parameters of a route's query, each with the schema of its text. Its message says what is expected. */
export type QueryParameters = Readonly<Record<string, v.GenericSchema<string, unknown>>>;

/** Null: the query has no such parameter. */
export type QueryValues<Parameters extends QueryParameters> = {
  readonly [Name in keyof Parameters]: v.InferOutput<Parameters[Name]> | null;
};

/** Throws `AppError("malformed")` for a value that is not valid, and for several. */
export function readQuery<Parameters extends QueryParameters>(
  c: Context,
  parameters: Parameters,
): QueryValues<Parameters> {
  const values = Object.entries(parameters).map(([name, schema]) => [name, readParameter(c, name, schema)]);
  // `fromEntries` forgets which name has which value.
  return Object.fromEntries(values) as QueryValues<Parameters>;
}

function readParameter(c: Context, name: string, schema: v.GenericSchema<string, unknown>): unknown {
  const [value, ...others] = c.req.queries(name) ?? [];
  if (value === undefined) return null;
  const parsed = v.safeParse(schema, value);
  if (parsed.success && others.length === 0) return parsed.output;
  const expected = others.length === 0 ? parsed.issues?.[0].message : "expected one value";
  throw new AppError("malformed", `The query's ${name} is not valid: ${expected}`);
}

/** The name of the check that a query's parameter names. */
/* @__NO_SIDE_EFFECTS__ */
export function checkParameter(description: string) {
  return v.pipe(
    described(text(1, 200), description),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const named = requireCheckName(dataset.value);
      if ("check" in named) return named.check;
      addIssue({ message: named.problem });
      return NEVER;
    }),
  );
}

/* @__NO_SIDE_EFFECTS__ */
export function choiceParameter<const Choice extends string>(
  choices: readonly Choice[],
  metadata: { readonly description?: string; readonly default?: Choice } = {},
) {
  return v.pipe(v.picklist(choices, `expected one of ${choices.join(", ")}`), v.metadata({ ...metadata }));
}

/* @__NO_SIDE_EFFECTS__ */
export function timeParameter(description: string) {
  return v.pipe(
    instant,
    v.transform((value) => new Date(value)),
    v.description(description),
  );
}

/** Place of an item in a list: its time and its key. A page begins after one, so that it stays right while items are added. */
export interface Position {
  readonly createdAt: Date;
  readonly key: string;
}

export interface PageRequest {
  readonly limit: number;
  /** Null: from the beginning. */
  readonly after: Position | null;
}

const defaultLimit = 50;
const maxLimit = 200;
/** Longer than every cursor that is made: a key of 200 characters, each of them six in JSON, in base64. */
const maxCursorLength = 2048;

export const pageParameters: Parameter[] = [
  { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit } },
  {
    name: "cursor",
    in: "query",
    description: "`next_cursor` of the page before",
    schema: { type: "string", minLength: 1, maxLength: maxCursorLength, pattern: "^[A-Za-z0-9_-]+$" },
  },
];

export interface List<Row> {
  readonly position: (row: Row) => readonly [createdAt: Date, key: string];
  readonly item: (row: Row) => unknown;
  readonly isKey: IsKey;
  /** Default: the length of the item's JSON. */
  readonly sizeOf?: (row: Row) => number;
}

/** True for a text that may be the key of an item: a cursor may be made by anybody. */
export type IsKey = (key: string) => boolean;

/** A list by time; `key` is the property of a row that tells it from others of the same time. */
export function listByTime<Row extends { readonly createdAt: Date }>(
  item: (row: Row) => unknown,
  key: keyof Row,
  isKey: IsKey,
): List<Row> {
  return { position: (row) => [row.createdAt, String(row[key])], item, isKey };
}

export function isText(key: string): boolean {
  return key.length <= 200 && !key.includes("\0");
}

/** A number of the database that rises. */
export function isNumber(key: string): boolean {
  return /^\d{1,15}$/.test(key);
}

/** Reads `limit` and `cursor` of a request; throws `AppError("malformed")`. */
export function parsePageRequest({ req }: Context, isKey: IsKey): PageRequest {
  const { searchParams } = new URL(req.url);
  const [limit = String(defaultLimit), ...otherLimits] = searchParams.getAll("limit");
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > maxLimit || otherLimits.length > 0) {
    throw new AppError("malformed", `The query's limit is not valid: expected one integer from 1 to ${maxLimit}`);
  }
  const [cursor, ...otherCursors] = searchParams.getAll("cursor");
  const after = cursor === undefined || otherCursors.length > 0 ? null : decodeCursor(cursor, req.path, isKey);
  if (cursor === undefined || after !== null) return { limit: Number(limit), after };
  throw new AppError("malformed", "The query's cursor is not valid: expected the next_cursor of a page of this list");
}

/** A page of a query in the order of time and key, the newest first, and one row beyond it. */
export function newestFirst<Select extends PgSelect>(
  query: Select,
  page: PageRequest,
  { by, where }: { readonly by: readonly [createdAt: PgColumn, key: PgColumn]; readonly where?: SQL | undefined },
) {
  return query
    .where(and(afterCursor(page, by), where))
    .orderBy(...by.map((column) => desc(column)))
    .limit(page.limit + 1);
}

/** The items of a page, for the WHERE of a list in the order of time and key: by default the newest first. */
export function afterCursor(
  { after }: Pick<PageRequest, "after">,
  [createdAt, key]: readonly [PgColumn, PgColumn],
  direction: "<" | ">" = "<",
): SQL | undefined {
  if (after === null) return undefined;
  const type = sql.raw(key.getSQLType());
  const place = sql`(${after.createdAt.toISOString()}::timestamptz, ${after.key}::${type})`;
  return sql`(${createdAt}, ${key}) ${sql.raw(direction)} ${place}`;
}

/** A page ends before its limit where its items are larger than usual: it is held in memory until the client has read it. */
export const maxPageLength = 262_144;

/** The JSON of a page of rows that were read one beyond the limit; `next_cursor` is null at the end. */
export function toPage<Row>(
  rows: readonly Row[],
  { item: toItem, position, sizeOf }: List<Row>,
  { limit, path }: { readonly limit: number; readonly path: string },
): string {
  const items: string[] = [];
  let length = 0;
  for (const row of rows.slice(0, limit)) {
    const item = JSON.stringify(toItem(row));
    length += sizeOf?.(row) ?? item.length;
    if (length > maxPageLength && items.length > 0) break;
    items.push(item);
  }
  const last = rows[items.length - 1];
  const next = last === undefined || rows.length === items.length ? null : toCursor(path, ...position(last));
  return `{"items":[${items.join(",")}],"next_cursor":${JSON.stringify(next)}}`;
}

/** Has the path of its list: a cursor of another one would lead to a wrong place. */
export function toCursor(path: string, createdAt: Date, key: string): string {
  return base64url.encode(JSON.stringify([lowerCaseUuids(path), createdAt.getTime(), key]));
}

function decodeCursor(cursor: string, path: string, isKey: IsKey): Position | null {
  if (cursor.length > maxCursorLength || !/^[\w-]+$/.test(cursor)) return null;
  const schema = v.strictTuple([
    v.literal(lowerCaseUuids(path)),
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(maxTimeMs)),
    v.pipe(v.string(), v.check(isKey)),
  ]);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(base64url.decode(cursor));
    const [, createdAtMs, key] = v.parse(schema, JSON.parse(text));
    return { createdAt: new Date(createdAtMs), key };
  } catch {
    return null;
  }
}
