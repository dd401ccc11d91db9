import { fileURLToPath } from "node:url";

/** Options of Drizzle's migrators; the same for every driver, so that each finds what another applied. */
export const migrationConfig: {
  readonly migrationsFolder: string;
  readonly migrationsSchema: string;
  readonly migrationsTable: string;
} = {
  migrationsFolder: fileURLToPath(new URL("./migrations", import.meta.url)),
  migrationsSchema: "scanstream",
  migrationsTable: "migrations",
};
