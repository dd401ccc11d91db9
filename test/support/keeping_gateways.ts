import type { Database, Rows } from "../../drizzle/database.ts";
import { createNeonHttpDatabase } from "../../drizzle/databases/neon_http.ts";
import { openOnNeon, openPg, openPglite, type OpenDatabase } from "../drizzle/open_databases.ts";
import { startTestGateway, type TestGateway } from "./test_gateway.ts";
import type { Environment } from "../../shared/environment_reader.ts";

/** What a suite about stored data runs on: both kinds of Postgres. */
export const keptDatabases: readonly (readonly [name: string, open: () => Promise<OpenDatabase>])[] = [
  ["PGlite", openPglite],
  ["PostgreSQL", openPg],
];

/** PostgreSQL over the driver of Workers, whose requests and answers are bounded. */
export const openNeon = () => openOnNeon((url, endpoint) => createNeonHttpDatabase(url, { endpoint }));

export interface KeptGateway extends TestGateway {
  readonly opened: OpenDatabase;
  /** The most characters that one transaction has sent or received so far: Neon takes 10 MiB. */
  readonly largestTransaction: () => number;
  /** The rows of a statement as the owner of every tenant's. */
  owner(sql: string, ...params: readonly unknown[]): Promise<Rows["rows"]>;
}

export async function startKeptGateway(
  open: () => Promise<OpenDatabase>,
  environment: Environment = {},
): Promise<KeptGateway> {
  const opened = await open();
  let largest = 0;
  const database: Database = {
    ...opened.database,
    close: async () => {},
    async transact(statements) {
      const answer = await opened.database.transact(statements);
      const sent = statements.flatMap(({ sql, params }) => [sql, ...params]);
      for (const values of [sent, answer.rows.flat()]) largest = Math.max(largest, sizeOf(values));
      return answer;
    },
  };
  const gateway = await startTestGateway(environment, { database });
  return {
    ...gateway,
    opened,
    largestTransaction: () => largest,
    async owner(sql, ...params) {
      const asAdmin = { sql: "select set_config('role', 'scanstream_admin', true)", params: [] };
      return (await opened.database.transact([asAdmin, { sql, params }])).rows;
    },
    async stop() {
      await gateway.stop();
      await opened.close();
    },
  };
}

function sizeOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + String(value).length, 0);
}
