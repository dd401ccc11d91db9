import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import type { Database } from "../../drizzle/database.ts";
import { startNeonProxy } from "../support/neon_proxy.ts";
import { watchedQueries } from "../support/watched_database.ts";
import { openTestPglite } from "../support/pglite.ts";
import { createTestDatabase, patient } from "../support/postgres.ts";

/** A migrated database of a suite's own, reached as its owner over one driver. */
export interface OpenDatabase {
  readonly database: Database;
  close(): Promise<void>;
}

export async function openPglite(): Promise<OpenDatabase> {
  const database = await openTestPglite();
  return { database, close: () => database.close() };
}

/** One connection, so that the state of one transaction would leak into the next. */
export function openPg() {
  return openOnPostgres((url) => createPgDatabase(url, { ...patient, maxConnections: 1, logger: watchedQueries }));
}

export async function openOnPostgres(connect: (ownerUrl: string) => Database | Promise<Database>) {
  const testDatabase = await createTestDatabase();
  const database = await connect(testDatabase.ownerUrl);
  return {
    database,
    async close() {
      await database.close();
      await testDatabase.drop();
    },
  };
}

/** Neon before real PostgreSQL, through a proxy of the suite's own. */
export async function openOnNeon(connect: (ownerUrl: string, endpoint: string) => Database) {
  const testDatabase = await createTestDatabase();
  const proxy = await startNeonProxy({ host: "127.0.0.1", port: Number(new URL(testDatabase.adminUrl).port) });
  const database = connect(testDatabase.ownerUrl, proxy.sqlEndpoint);
  return {
    database,
    proxy,
    async close() {
      await database.close();
      await proxy.close();
      await testDatabase.drop();
    },
  };
}
