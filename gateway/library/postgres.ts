import { checkOptions, databaseUrl } from "../check_options.ts";
import type { DatabaseAdapter } from "../gateway_options.ts";
import { maxConnections } from "../limits.ts";
import { migrateDatabase, openMigrated } from "../operator/migrate.ts";

/** A database that starts next to the gateway may take this long. */
const timeoutMs = 10_000;

export interface PostgresOptions {
  /** `postgres://user:password@host/database`, of a role that owns no table. */
  readonly url: string;
}

/** Any Postgres, over TCP, on Node and Deno. */
export function postgres(options: PostgresOptions): DatabaseAdapter {
  checkOptions("postgres", { url: databaseUrl }, options);
  const { url } = options;
  return {
    migrate: (features) => migrateDatabase(url, features),
    open: (context) => openMigrated(url, { maxConnections, timeoutMs, ...context }),
  };
}
