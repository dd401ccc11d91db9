import { AsyncLocalStorage } from "node:async_hooks";
import type { PGlite, PGliteOptions } from "@electric-sql/pglite";
import type { drizzle } from "drizzle-orm/pglite";
import packageJson from "../../package.json" with { type: "json" };
import { hasCode } from "../../shared/error_code.ts";
import { settingsError } from "../../shared/usage_error.ts";
import type { Database, DatabaseOptions } from "../database.ts";
import { unwrapDatabaseError } from "../database_error.ts";
import { embeddedPostgres } from "../embedded_files.ts";
import type { FeatureTables } from "../feature_tables.ts";
import { migrateAll } from "../migrate_features.ts";
import { createPooledDatabase } from "../transact.ts";

/**
 * The embedded default: Postgres in this process, migrated at open, with its data in this folder; null: in memory. It has one
 * connection, so transactions run one after another. Only one process may have a directory open. Rejects with `UsageError` where
 * the package is not installed, and with `Error` that says why the database cannot be opened.
 */
export async function openPgliteDatabase(
  directory: string | null,
  features: readonly FeatureTables[],
): Promise<Database> {
  const { PGlite, drizzle, migrate } = await loadPglite();
  try {
    const wasm = await embeddedPostgres();
    const pglite = await PGlite.create({ dataDir: directory ?? "memory://", ...pgliteTypes, ...wasm });
    const db = drizzle(pglite);
    await migrateAll(db, (config) => migrate(db, config), features);
    return createPgliteDatabase(pglite, drizzle, { onClosed: () => pglite.close() });
  } catch (error) {
    const cause = unwrapDatabaseError(error);
    throw cause instanceof Error ? cause : new Error(problemOf(cause), { cause });
  }
}

/** A count is text, as other drivers give it. Bytes go as a whole: the package takes seconds for those of a report, one by one. */
export const pgliteTypes: Required<Pick<PGliteOptions, "parsers" | "serializers">> = {
  parsers: { 17: (text) => Buffer.from(text.slice(2), "hex"), 20: (text) => text },
  serializers: { 17: (bytes: Uint8Array) => `\\x${Buffer.from(bytes).toString("hex")}` },
};

/** Opens a database over a migrated PGlite that is open already, with `pgliteTypes`. */
export function createPgliteDatabase(
  pglite: PGlite,
  bind: typeof drizzle,
  { onClosed, logger }: Pick<DatabaseOptions, "logger"> & { readonly onClosed: () => Promise<void> },
): Database {
  const pooled = createPooledDatabase({
    connect: async () => ({
      query: (...query) => pglite.query(...(query as unknown as Parameters<PGlite["query"]>)),
      execute: (sql) => pglite.exec(sql).then(() => undefined),
      drizzle: (client) => bind({ client: client as PGlite, ...(logger && { logger }) }),
      async release(isBroken) {
        // Fails where the database was closed, and then nothing is left to undo.
        if (isBroken) await pglite.exec("rollback").catch(() => {});
      },
    }),
    end: onClosed,
  });
  /** Settles when the transaction before has ended. */
  let previous: Promise<unknown> = Promise.resolve();
  const running = new AsyncLocalStorage<{ isOpen: boolean }>();
  return {
    ...pooled,
    async transact(settings, work) {
      // It would wait for the connection of the transaction that waits for it.
      if (running.getStore()?.isOpen)
        throw new Error("Cannot begin a transaction inside another: query with the db of the first");
      const own = { isOpen: true };
      const transaction = previous.then(() => running.run(own, () => pooled.transact(settings, work)));
      const ended = transaction.finally(() => (own.isOpen = false));
      previous = ended.catch(() => {});
      return ended;
    },
  };
}

/** The package is optional: it is large, and a gateway with a real Postgres does not need it. */
async function loadPglite() {
  try {
    const [{ PGlite }, { drizzle }, { migrate }] = await Promise.all([
      import("@electric-sql/pglite"),
      import("drizzle-orm/pglite"),
      import("drizzle-orm/pglite/migrator"),
    ]);
    return { PGlite, drizzle, migrate };
  } catch (cause) {
    if (!hasCode(cause, "ERR_MODULE_NOT_FOUND")) throw cause;
    const version = packageJson.peerDependencies["@electric-sql/pglite"];
    const problem =
      "DATABASE_URL: unset, and the embedded database is not installed: " +
      `run \`npm install @electric-sql/pglite@${version}\`, or set DATABASE_URL to a Postgres database`;
    throw settingsError(problem, { cause });
  }
}

/** The file system of WebAssembly throws objects that are not errors: numbers of WASI, of which a full disk is 51. */
function problemOf(cause: unknown): string {
  const { errno } = (cause ?? {}) as { readonly errno?: unknown };
  return errno === 51 ? "no space left on device" : `the file system refused it (errno ${String(errno)})`;
}
