import type { Database } from "../../drizzle/database.ts";
import { openPg, openPglite, type OpenDatabase } from "../drizzle/open_databases.ts";
import { runSql } from "./watched_database.ts";
import { startTestGateway, type TestGateway } from "./test_gateway.ts";
import type { Environment } from "../../shared/environment_reader.ts";

/** Both kinds of Postgres, for suites about stored data. */
export const keptDatabases: readonly (readonly [name: string, open: () => Promise<OpenDatabase>])[] = [
  ["PGlite", openPglite],
  ["PostgreSQL", openPg],
];

export interface KeptGateway extends TestGateway {
  readonly opened: OpenDatabase;
  /** The rows of a statement as the owner of every tenant's. */
  owner(sql: string, ...params: readonly unknown[]): ReturnType<typeof runSql>;
}

export async function startKeptGateway(
  open: () => Promise<OpenDatabase>,
  environment: Environment = {},
): Promise<KeptGateway> {
  const opened = await open();
  const database: Database = { ...opened.database, close: async () => {} };
  const gateway = await startTestGateway(environment, { database });
  return {
    ...gateway,
    opened,
    async owner(sql, ...params) {
      return runSql(opened.database, "set local role scanstream_admin", { sql, params });
    },
    async stop() {
      await gateway.stop();
      await opened.close();
    },
  };
}
