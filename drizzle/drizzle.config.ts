import { defineConfig } from "drizzle-kit";

/**
 * `npx drizzle-kit generate --config drizzle/drizzle.config.ts --name <what>` writes the next migration from schema.ts.
 * FORCE, grants and functions it does not write: give a new table those in a `--custom` migration (a test insists).
 */
export default defineConfig({
  dialect: "postgresql",
  schema: "./drizzle/schema.ts",
  out: "./drizzle/migrations",
});
