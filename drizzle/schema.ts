/**
 * Every table, for queries and for drizzle-kit, which writes the next migration from this file:
 * `npx drizzle-kit generate --dialect postgresql --schema drizzle/schema.ts --out drizzle/migrations --name <what>`.
 * FORCE, grants and functions it does not write: give a new table those in a `--custom` migration (a test insists).
 */
export * from "./tables/decisions.ts";
export * from "./tables/organizations.ts";
export * from "./tables/people.ts";
export * from "./tables/runs.ts";
