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
  /** `PGlite.dumpDataDir` of an earlier one: starts in half a second, where a new one takes two or three. In memory only. */
  readonly dump?: Blob;
}

/**
 * The embedded default: Postgres in this process, migrated at open. It has one connection, so transactions run one after
 * another. One process at a time may have a directory open.
 */
export async function openPgliteDatabase(options: PgliteOptions): Promise<Database> {
  const pglite = await PGlite.create({
    dataDir: options.directory ?? "memory://",
    ...(options.dump === undefined ? {} : { loadDataDir: options.dump }),
  });
  await migrate(drizzle(pglite), migrationConfig);
  const { connection } = createPgConfig(pglite);
  // Node-postgres takes a ready connection, its types do not say so.
  const config = { connection, max: 1, idleTimeoutMillis: 0 };
  return createPoolDatabase(new Pool(config), { onClosed: () => pglite.close() });
}
