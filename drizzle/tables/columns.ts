import { type AnyPgColumn, customType, foreignKey, timestamp } from "drizzle-orm/pg-core";

/** Milliseconds, as exact as a JavaScript `Date`, so that a cursor made of one finds its place again. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

export const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });

/** A scan ends by itself; a monitor goes on until somebody ends it. */
export type RunKind = "scan" | "monitor";

export type Key = [tenantId: AnyPgColumn, ...rest: AnyPgColumn[]];

/** A reference to a row of the same tenant, with which the row goes. */
export function goesWith(name: string, columns: Key, foreignColumns: Key) {
  return foreignKey({ name, columns, foreignColumns }).onDelete("cascade");
}
