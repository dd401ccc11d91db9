import { PGlite } from "@electric-sql/pglite";
import { createPgConfig } from "@electric-sql/pglite/node-postgres";
import { drizzle } from "drizzle-orm/pglite";
import { migrate } from "drizzle-orm/pglite/migrator";
import { Pool } from "pg";
import { AppError } from "../../shared/app_error.ts";
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
 * another. Only one process may have a directory open. Rejects with `AppError("unavailable")` where it cannot be opened.
 */
export async function openPgliteDatabase(options: PgliteOptions): Promise<Database> {
  const pglite = await openPglite(options).catch((cause: unknown) => {
    const place = options.directory === null ? "" : ` in ${options.directory}`;
    throw new AppError("unavailable", `The embedded database${place} cannot be opened: ${problemOf(cause)}`, { cause });
  });
  const { connection } = createPgConfig(pglite);
  // Node-postgres takes a ready connection; its types lack that.
  const config = { connection, max: 1, idleTimeoutMillis: 0 };
  return createPoolDatabase(new Pool(config), { onClosed: () => pglite.close() });
}

async function openPglite(options: PgliteOptions): Promise<PGlite> {
  const pglite = await PGlite.create({
    dataDir: options.directory ?? "memory://",
    ...(options.dump === undefined ? {} : { loadDataDir: options.dump }),
  });
  await migrate(drizzle(pglite), migrationConfig);
  return pglite;
}

/** The file system of WebAssembly throws objects that are no errors: numbers of WASI, of which a full disk is 51. */
function problemOf(cause: unknown): string {
  if (cause instanceof Error) return cause.message;
  const { errno } = (cause ?? {}) as { readonly errno?: unknown };
  return errno === 51 ? "no space left on device" : `the file system refused it (errno ${String(errno)})`;
}
