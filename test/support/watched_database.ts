import { AsyncLocalStorage } from "node:async_hooks";
import { type Logger, type SQL, sql } from "drizzle-orm";
import type { Database, TransactionSettings } from "../../drizzle/database.ts";

export interface SentQuery {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** Runs around a transaction. `queries` grows with each query that the transaction sends. */
export type AroundTransaction = <Result>(
  run: () => Promise<Result>,
  transaction: { readonly queries: readonly SentQuery[]; readonly settings: TransactionSettings },
) => Promise<Result>;

const current = new AsyncLocalStorage<SentQuery[]>();

/** Options with which a database is opened so that `watchDatabase` sees its queries. */
export const watchedQueries: Logger = {
  logQuery: (text, params) => void current.getStore()?.push({ sql: text, params }),
};

export function watchDatabase(database: Database, around: AroundTransaction): Database {
  return {
    close: () => database.close(),
    transact(settings, work) {
      const queries: SentQuery[] = [];
      return around(() => current.run(queries, () => database.transact(settings, work)), { queries, settings });
    },
  };
}

/** Runs statements as one transaction of the role of `DATABASE_URL`. Returns the values of the last one's rows. */
export async function runSql(
  database: Database,
  ...statements: readonly (string | SentQuery)[]
): Promise<readonly (readonly unknown[])[]> {
  const settings: TransactionSettings = { role: null, tenantId: "", access: "write" };
  return await database.transact(settings, async (db) => {
    let values: readonly (readonly unknown[])[] = [];
    for (const statement of statements) {
      const { rows } = await db.execute(toSql(statement));
      values = rows.map((row) => Object.values(row));
    }
    return values;
  });
}

/** `$1` is the first parameter. */
export function toSql(statement: string | SentQuery): SQL {
  if (typeof statement === "string") return sql.raw(statement);
  const parts = statement.sql.split(/\$(\d+)/);
  return sql.join(
    parts.map((part, index) => (index % 2 === 0 ? sql.raw(part) : sql.param(statement.params[Number(part) - 1]))),
  );
}
