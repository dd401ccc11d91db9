import { type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { TenantDatabase } from "../../drizzle/transactions.ts";

/** Rows for one statement: the largest ones are deleted within its time, too. */
const maxRows = 2000;

/** Repeats a step that deletes this many rows until its answer is the last. Every step is a transaction, and safe to repeat. */
export async function deleteInBatches<Answer>(
  step: (maxRows: number) => Promise<Answer>,
  isLast: (answer: Answer) => boolean,
): Promise<Answer> {
  for (;;) {
    const answer = await step(maxRows);
    if (isLast(answer)) return answer;
  }
}

/** Deletes rows that fulfil the condition, at most this many; true: there may be more. */
export async function deleteSome(db: TenantDatabase, table: PgTable, condition: SQL, limit: number): Promise<boolean> {
  const { rows } = await db.execute<{ is_full: boolean }>(sql`
    with deleted as (
      delete from ${table} where ctid = any (array(select ctid from ${table} where ${condition} limit ${limit}::integer))
      returning 1
    )
    select count(*) >= ${limit}::integer as is_full from deleted`);
  return rows[0]?.is_full === true;
}
