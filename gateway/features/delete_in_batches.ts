import { unwrapDatabaseError } from "../../drizzle/database_error.ts";
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
