import type { Client } from "pg";
import type { Database, Statement } from "../../../drizzle/database.ts";
import { encodeParameter } from "../../../drizzle/databases/parameter_values.ts";

/** What PostgreSQL did for one statement. */
export interface StatementCost {
  readonly text: string;
  /** Pages of 8 KiB that were read, from PostgreSQL's memory or not, without those of triggers. */
  readonly buffers: number;
  /** Of tables that were read from one end to the other, in functions and triggers too. */
  readonly scannedRows: number;
  /** What EXPLAIN says. */
  readonly plan: string;
}

export interface ExplainedDatabase extends Database {
  /** Of every statement while `work` runs. */
  explain(work: () => Promise<unknown>): Promise<readonly StatementCost[]>;
}

/**
 * Hands statements through, and while it is asked to explain runs each of them under EXPLAIN first, in a transaction of another
 * connection that is rolled back.
 */
export function explainDatabase(database: Database, other: Client): ExplainedDatabase {
  let costs: StatementCost[] | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  return {
    ...database,
    async transact(statements) {
      const kept = costs;
      if (kept !== null) {
        const explained = turn.then(async () => kept.push(await explainLast(other, statements)));
        turn = explained.catch(() => {});
        await explained;
      }
      return database.transact(statements);
    },
    async explain(work) {
      const kept: StatementCost[] = [];
      costs = kept;
      try {
        await work();
      } finally {
        costs = null;
      }
      return kept;
    },
  };
}

async function explainLast(other: Client, statements: readonly Statement[]): Promise<StatementCost> {
  const last = statements.length - 1;
  let rows: readonly { readonly "QUERY PLAN": readonly [Explained] }[] = [];
  let scannedRows = 0;
  await other.query("begin");
  try {
    for (const [index, { sql, params }] of statements.entries()) {
      if (index === last) scannedRows -= await countScannedRows(other);
      const text = index === last ? `explain (analyze, buffers, timing off, format json) ${sql}` : sql;
      ({ rows } = await other.query(text, params.map(encodeParameter)));
    }
    scannedRows += await countScannedRows(other);
  } finally {
    await other.query("rollback");
  }
  const [explained] = rows[0]?.["QUERY PLAN"] ?? [];
  if (explained === undefined) throw new Error("Cannot explain a statement: PostgreSQL answered without a plan");
  return {
    text: (statements[last]?.sql ?? "").replaceAll(/\s+/g, " ").trim(),
    buffers: explained.Plan["Shared Hit Blocks"] + explained.Plan["Shared Read Blocks"],
    scannedRows,
    plan: JSON.stringify(explained),
  };
}

/** In this transaction. */
async function countScannedRows(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>(
    "select coalesce(sum(seq_tup_read), 0) as count from pg_stat_xact_user_tables",
  );
  return Number(rows[0]?.count ?? 0);
}

/** https://www.postgresql.org/docs/current/sql-explain.html: the buffers of a step are those of the steps below it too. */
interface Explained {
  readonly Plan: Readonly<Record<"Shared Hit Blocks" | "Shared Read Blocks", number>>;
}
