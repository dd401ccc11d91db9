import { type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { TenantDatabase } from "../../drizzle/transactions.ts";

/** Rows for one statement: the largest ones are deleted within its time, too. */
export const maxDeletedRows = 2000;

/** Repeats a step of a deletion until it is the last; null: there may be more. Every step is a transaction, and safe to repeat. */
export async function deleteInBatches<Answer>(step: () => Promise<Answer | null>): Promise<Answer> {
  for (;;) {
    const answer = await step();
    if (answer !== null) return answer;
  }
}

/** Deletes rows that fulfil the condition, a bounded number; true: there may be more. */
export async function deleteSome(db: TenantDatabase, table: PgTable, condition: SQL): Promise<boolean> {
  const { rows } = await db.execute(sql`
    delete from ${table} where ctid = any (array(select ctid from ${table} where ${condition} limit ${maxDeletedRows}::integer))
    returning 1`);
  return rows.length >= maxDeletedRows;
}
