import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as applyMigrations } from "drizzle-orm/node-postgres/migrator";
import { Client } from "pg";
import { settingsError, UsageError } from "../shared/usage_error.ts";
import { defaultTimeouts } from "./database.ts";
import { toDatabaseError, unwrapDatabaseError } from "./database_error.ts";
import { toClientConfig } from "./databases/pg.ts";
import type { FeatureTables } from "./feature_tables.ts";
import { migrateAll } from "./migrate_features.ts";

/** "scanstream" in ASCII, cut to the 63 bits of a lock's key. */
const migrationLock = "8319104478127354989";

/**
 * Applies the migrations, and those of the features, to the database that `url` names, as its owner (who needs no superuser, but CREATE on the database, and
 * CREATEROLE unless the two roles exist). Safe to repeat, and when several processes do it at once: the second waits for a minute.
 * Rejects with `AppError("unavailable")` or `DatabaseError`, and with `UsageError` for a URL that cannot be used or a database that
 * is not in UTF8; a failed migration leaves nothing behind.
 */
export async function migrate(url: string, features: readonly FeatureTables[] = []): Promise<void> {
  await withClient(url, async (guard) => {
    const { rows } = await guard.query<{ encoding: string }>("select current_setting('server_encoding') as encoding");
    const [{ encoding } = { encoding: "" }] = rows;
    // Others have no place for most characters: storing what a person or Okta wrote would fail.
    if (encoding !== "UTF8") throw settingsError(`DATABASE_URL: expected a database in UTF8, not ${encoding}`);
    // The lock lives in a transaction on a separate connection: a session lock would get lost behind a transaction pooler,
    // and the migrator begins and commits its transactions itself.
    await guard.query("begin");
    await guard.query("set local lock_timeout to '1min'");
    await guard.query("select pg_advisory_xact_lock($1)", [migrationLock]);
    await withClient(url, async (client) => {
      // Drizzle writes tables without a schema's name, and a role's own search path could lead elsewhere.
      await client.query("set search_path to public");
      // Every gateway's statement queues behind a lock that waits for others, such as a dump, to leave a table.
      await client.query("set lock_timeout to '3s'");
      const db = drizzle(client);
      await migrateAll(db, (config) => applyMigrations(db, config), features);
    });
    await guard.query("commit");
  });
}

async function withClient(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({
    ...toClientConfig(url),
    application_name: "scanstream migrate",
    connectionTimeoutMillis: defaultTimeouts.connectTimeoutMs,
  });
  // A connection that breaks also fails the query that waits on it.
  client.on("error", () => {});
  try {
    await client.connect();
    await work(client);
  } catch (error) {
    // A `TypeError` is a feature's mistake, or ours: no driver fails with it.
    if (error instanceof UsageError || error instanceof TypeError) throw error;
    throw toDatabaseError(unwrapDatabaseError(error));
  } finally {
    await client.end().catch(() => {});
  }
}
