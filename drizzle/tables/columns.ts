import { customType, timestamp } from "drizzle-orm/pg-core";

/** Milliseconds, as exact as a JavaScript `Date`, so that a cursor made of one finds its place again. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

export const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
