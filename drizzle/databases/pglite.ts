import { PGlite } from "@electric-sql/pglite";
import { createPgConfig } from "@electric-sql/pglite/node-postgres";
import { drizzle } from "drizzle-orm/pglite";
import { migrate } from "drizzle-orm/pglite/migrator";
import { Pool } from "pg";
import type { Database } from "../database.ts";
import { migrationConfig } from "../migrations_folder.ts";
import { createPoolDatabase } from "./pool_database.ts";

export interface PgliteOptions {
  /** Where the data is kept; in memory when null. */
  readonly directory: string | null;
}

/**
 * The embedded default: Postgres in this process, migrated at open. It has one connection, so transactions run one after
 * another. One process at a time may have a directory open.
 */
export async function openPgliteDatabase(options: PgliteOptions): Promise<Database> {
  const pglite = await PGlite.create(options.directory ?? "memory://");
  await migrate(drizzle(pglite), migrationConfig);
  const { connection } = createPgConfig(pglite);
  // Node-postgres takes a ready connection, its types do not say so.
  const config = { connection, max: 1, idleTimeoutMillis: 0 };
  return createPoolDatabase(new Pool(config), { onClosed: () => pglite.close() });
}
