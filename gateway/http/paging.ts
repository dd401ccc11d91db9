import { getTableColumns, getTableName, sql, Subquery, type SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { AppError } from "../../shared/app_error.ts";
import { fromBase64, toBase64 } from "../../shared/base64.ts";
import { isUuid } from "../../shared/channel_name.ts";
import type { Parameter } from "../description/operation.ts";

/** One page of a list; `next_cursor` is null at the end. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** Where a page begins: after the item with this time and key. It stays right while items are added. */
interface Position {
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
/** Over the longest that is made: a key of 200 characters, each of them six in JSON, in base64. */
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

export interface List<Row, Item> {
  /** In the cursor, so that one list's cursor fits no other. */
  readonly name: string;
  readonly isKey: (key: string) => boolean;
  readonly position: (row: Row) => Position;
  readonly item: (row: Row) => Item;
}

/** A list by time, of rows that a UUID identifies. */
export function listByTime<Row extends { readonly id: string; readonly createdAt: Date }, Item>(
  name: string,
  item: (row: Row) => Item,
): List<Row, Item> {
  return { name, isKey: isUuid, position: ({ createdAt, id }) => ({ createdAt, key: id }), item };
}

/** Reads `limit` and `cursor` of a request; throws `AppError("malformed")`. */
export function parsePageRequest(url: string, list: CursorKind): PageRequest {
  const { searchParams } = new URL(url);
  return {
    limit: parseLimit(searchParams.getAll("limit")),
    after: parseCursor(searchParams.getAll("cursor"), list),
  };
}

/** For the WHERE of a list whose newest items come first, those of the same time by their key. */
export function afterCursor({ after }: PageRequest, createdAt: PgColumn, key: PgColumn): SQL | undefined {
  if (after === null) return undefined;
  const type = sql.raw(key.getSQLType());
  return sql`(${createdAt}, ${key}) < (${after.createdAt.toISOString()}::timestamptz, ${after.key}::${type})`;
}

/** Bytes of the texts of a page: a page of large rows ends before its limit, and the next one goes on. */
const maxPageBytes = 524_288;

/** `toPage` ends a page before this: the text of a row in the database is at most six times as long as it counts, for its escapes. */
const maxReadBytes = 6 * maxPageBytes;

/**
 * The rows that `toPage` puts on a page, and one beyond them, for a list of large rows: a database answers with 10 MiB at most. Stands
 * for the table of this name. `candidates` selects the columns and the `bytes` of the rows up to the limit.
 */
export function rowsOfPage<Table extends PgTable>(table: Table, candidates: SQL, order: SQL) {
  const alias = getTableName(table);
  const name = sql.identifier(alias);
  const rows = sql`
    select * from (
      select *, sum(bytes) over (order by ${order} rows between unbounded preceding and 2 preceding) as bytes_before
      from (${candidates}) as ${name}
    ) as ${name} where bytes_before is null or bytes_before <= ${maxReadBytes}::bigint`;
  return new Subquery(rows, getTableColumns(table), alias);
}

/** Makes a page of rows that were read one beyond the limit. */
export function toPage<Row, Item>(rows: readonly Row[], limit: number, list: List<Row, Item>): Page<Item> {
  const items: Item[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, limit)) {
    const item = list.item(row);
    bytes += textLength(item);
    if (bytes > maxPageBytes && items.length > 0) break;
    items.push(item);
  }
  const last = rows[items.length - 1];
  const hasMore = rows.length > items.length && last !== undefined;
  return {
    items,
    next_cursor: hasMore ? toCursor(list, list.position(last)) : null,
  };
}

export function toCursor({ name }: Pick<CursorKind, "name">, { createdAt, key }: Position): string {
  return toBase64Url(JSON.stringify([name, createdAt.getTime(), key]));
}

/** About what a value takes as JSON. */
function textLength(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  return Object.values(value).reduce<number>((sum, each) => sum + 8 + textLength(each), 0);
}

function parseLimit(values: readonly string[]): number {
  const [value, ...others] = values;
  if (value === undefined) return defaultLimit;
  const limit = /^\d{1,4}$/.test(value) && others.length === 0 ? Number(value) : Number.NaN;
  if (limit >= 1 && limit <= maxLimit) return limit;
  throw new AppError("malformed", `The query's limit is not valid: expected one integer from 1 to ${maxLimit}`);
}

export type CursorKind = Pick<List<never, unknown>, "name" | "isKey">;

function parseCursor(values: readonly string[], kind: CursorKind): Position | null {
  const [value, ...others] = values;
  if (value === undefined) return null;
  const position = others.length === 0 && value.length <= maxCursorLength ? decodeCursor(value, kind) : null;
  if (position !== null) return position;
  throw new AppError("malformed", "The query's cursor is not valid: expected the next_cursor of a page of this list");
}

/** The last moment that both JavaScript and Postgres write with a year of four digits. */
const maxTimeMs = Date.UTC(9999, 11, 31);

function decodeCursor(cursor: string, kind: CursorKind): Position | null {
  try {
    const decoded: unknown = JSON.parse(fromBase64Url(cursor));
    if (!Array.isArray(decoded) || decoded.length !== 3) return null;
    const [name, createdAtMs, key] = decoded as readonly unknown[];
    if (name !== kind.name || typeof key !== "string" || !kind.isKey(key)) return null;
    if (typeof createdAtMs !== "number" || !Number.isInteger(createdAtMs)) return null;
    if (createdAtMs < 0 || createdAtMs > maxTimeMs) return null;
    return { createdAt: new Date(createdAtMs), key };
  } catch {
    return null;
  }
}

function toBase64Url(text: string): string {
  return toBase64(new TextEncoder().encode(text)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text: string): string {
  if (!/^[\w-]+$/.test(text)) throw new TypeError("Cannot read a cursor: it is not base64url");
  const bytes = fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}
