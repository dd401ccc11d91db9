import { fileURLToPath } from "node:url";

/** What Drizzle's migrators need to know; the same for every driver, so that each finds what another applied. */
export const migrationConfig = {
  migrationsFolder: fileURLToPath(new URL("./migrations", import.meta.url)),
  migrationsSchema: "scanstream",
  migrationsTable: "migrations",
} as const;
