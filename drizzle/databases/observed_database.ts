import type { Database, Rows } from "../database.ts";

/** Hands every transaction to `observe`, which runs it: with the text of its last statement, the one that it is for. */
export function observeDatabase(
  database: Database,
  observe: (text: string, run: () => Promise<Rows>) => Promise<Rows>,
): Database {
  return {
    ...database,
    transact: (statements, holder) =>
      observe(statements.at(-1)?.sql.trim() ?? "", () => database.transact(statements, holder)),
  };
}
