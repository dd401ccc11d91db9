import { type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { unwrapDatabaseError } from "../../drizzle/database_error.ts";
import type { TenantDatabase } from "../../drizzle/transactions.ts";
import { isUnavailable } from "../../shared/app_error.ts";

/** A step of this size takes a tenth of what a statement may, unless its rows are large. */
const firstRows = 10_000;
const leastRows = 20;

/**
 * Repeats one statement that deletes this many rows until its answer is the last. Rows that are too large for the time of one
 * statement are deleted in smaller steps. Every step is safe to repeat.
 */
export async function deleteInBatches<Answer>(
  step: (maxRows: number) => Promise<Answer>,
  isLast: (answer: Answer) => boolean,
): Promise<Answer> {
  let maxRows = firstRows;
  for (;;) {
    try {
      const answer = await step(maxRows);
      if (isLast(answer)) return answer;
    } catch (error) {
      if (!isUnavailable(unwrapDatabaseError(error)) || maxRows <= leastRows) throw error;
      maxRows = Math.max(leastRows, Math.floor(maxRows / 8));
    }
  }
}

/** Deletes rows that fulfil the condition, at most this many; true: there may be more. */
export async function deleteSome(
  db: TenantDatabase,
  table: PgTable,
  condition: SQL,
  maxRows: number,
): Promise<boolean> {
  const { rows } = await db.execute<{ is_full: boolean }>(sql`
    with deleted as (
      delete from ${table} where ctid = any (array(select ctid from ${table} where ${condition} limit ${maxRows}::integer))
      returning 1
    )
    select count(*) >= ${maxRows}::integer as is_full from deleted`);
  return rows[0]?.is_full === true;
}
