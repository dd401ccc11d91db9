import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { requireFeatureTables } from "../../drizzle/migrate_features.ts";
import { checkOptions, someText } from "../check_options.ts";
import type { DatabaseAdapter } from "../gateway_options.ts";
import { maxConnections } from "../limits.ts";
import { migrateDatabase, requireMigrated } from "../operator/migrate.ts";

/** A database that starts next to the gateway may take this long. */
const databaseTimeoutMs = 10_000;

export interface PostgresOptions {
  /** `postgres://user:password@host/database`, of a role that owns no table. */
  readonly url: string;
}

/** Any Postgres, over TCP, on Node and Deno. */
export function postgres(options: PostgresOptions): DatabaseAdapter {
  checkOptions("postgres", { url: someText }, options);
  const { url } = options;
  return {
    migrate: (features) => migrateDatabase(url, features),
    async open({ features, signal }) {
      const database = createPgDatabase(url, { maxConnections });
      try {
        await requireMigrated(database, { timeoutMs: databaseTimeoutMs, ...(signal === undefined ? {} : { signal }) });
        await requireFeatureTables(database, features);
        return database;
      } catch (error) {
        await database.close();
        throw error;
      }
    },
  };
}
