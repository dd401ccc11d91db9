import type { PGlite, PGliteOptions } from "@electric-sql/pglite";
import type { drizzle } from "drizzle-orm/pglite";
import packageJson from "../../package.json" with { type: "json" };
import { hasCode } from "../../shared/error_code.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Database, DatabaseOptions } from "../database.ts";
import { embeddedPostgres, type migrationConfig } from "../embedded_files.ts";
import type { FeatureTables } from "../feature_tables.ts";
import { migrateAll } from "../migrate_features.ts";
import { type Connection, createPooledDatabase } from "../transact.ts";

export interface PgliteOptions {
  /** Folder of the data; null: in memory. */
  readonly directory: string | null;
  readonly features?: readonly FeatureTables[];
}

/**
 * The embedded default: Postgres in this process, migrated at open. It has one connection, so transactions run one after
 * another. Only one process may have a directory open. Rejects with `UsageError` where the package is not
 * installed, and with `Error` that says why the database cannot be opened.
 */
export async function openPgliteDatabase(options: PgliteOptions): Promise<Database> {
  const modules = await loadPglite();
  const pglite = await openPglite(modules, options).catch((cause: unknown) => {
    throw cause instanceof Error ? cause : new Error(problemOf(cause), { cause });
  });
  return createPgliteDatabase(pglite, modules.drizzle, { onClosed: () => pglite.close() });
}

/** Values that other drivers give as text: a count is the same on each of them. */
export const pgliteParsers: NonNullable<PGliteOptions["parsers"]> = { 20: (text) => text };

/** Opens a database over a migrated PGlite that is open already, with `pgliteParsers`. */
export function createPgliteDatabase(
  pglite: PGlite,
  bind: typeof drizzle,
  { onClosed, logger }: Pick<DatabaseOptions, "logger"> & { readonly onClosed: () => Promise<void> },
): Database {
  let isClosed = false;
  /** Settles when the transaction before has ended. */
  let previous: Promise<void> = Promise.resolve();
  const pool = {
    async connect(): Promise<Connection> {
      const before = previous;
      const { promise, resolve: end } = Promise.withResolvers<void>();
      previous = promise;
      await before;
      if (isClosed) {
        end();
        throw new Error("The database was closed");
      }
      return {
        send: (...query) => pglite.query(...(query as unknown as Parameters<PGlite["query"]>)),
        async execute(sql) {
          await pglite.exec(sql);
          return undefined;
        },
        drizzle(query) {
          // The driver calls nothing but `query`.
          const guarded = { query } as unknown as PGlite;
          return bind({ client: guarded, ...(logger && { logger }) });
        },
        async release(isBroken) {
          try {
            if (isBroken && !isClosed) await pglite.exec("rollback");
          } finally {
            end();
          }
        },
      };
    },
    async end() {
      isClosed = true;
      await onClosed();
    },
  };
  return createPooledDatabase(pool);
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
    throw new UsageError([problem], { heading: "Cannot use the configuration", cause });
  }
}

type Modules = Pick<Awaited<ReturnType<typeof loadPglite>>, "PGlite" | "drizzle" | "migrate">;

async function openPglite({ PGlite, drizzle, migrate }: Modules, options: PgliteOptions): Promise<PGlite> {
  const pglite = await PGlite.create({
    dataDir: options.directory ?? "memory://",
    parsers: pgliteParsers,
    ...(await embeddedPostgres()),
  });
  const applyMigrations = (config: typeof migrationConfig) => migrate(drizzle(pglite), config);
  await migrateAll({ applyMigrations, query: (statement) => pglite.query(statement) }, options.features ?? []);
  return pglite;
}

/** The file system of WebAssembly throws objects that are not errors: numbers of WASI, of which a full disk is 51. */
function problemOf(cause: unknown): string {
  const { errno } = (cause ?? {}) as { readonly errno?: unknown };
  return errno === 51 ? "no space left on device" : `the file system refused it (errno ${String(errno)})`;
}
