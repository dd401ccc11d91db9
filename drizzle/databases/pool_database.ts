import { AppError } from "../../shared/app_error.ts";
import { FairShare } from "../../shared/fair_share.ts";
import { FairTurns } from "../../shared/fair_turns.ts";
import {
  answerGraceMs,
  type Database,
  defaultConnectTimeoutMs,
  defaultStatementTimeoutMs,
  type Rows,
} from "../database.ts";
import { databaseUnavailable, DatabaseError, toDatabaseError } from "../database_error.ts";
import { BatchQuery } from "./batch_query.ts";
import type { PreparedStatements } from "./prepared_statements.ts";

/** A pool of node-postgres clients: `pg`'s, or one client on PGlite. */
export interface ClientPool {
  readonly options: { readonly max: number };
  connect(): Promise<PooledClient>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
}

interface PooledClient {
  query(query: BatchQuery): unknown;
  /** With `true` the connection is closed and not used again. */
  release(destroy?: boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

export interface PoolDatabaseOptions {
  readonly statementTimeoutMs?: number | undefined;
  /** How long a transaction may wait for its turn. */
  readonly connectTimeoutMs?: number | undefined;
  /** Where connections live long: statements are parsed once a connection. Default: each time. */
  readonly prepared?: PreparedStatements;
  /** Runs after the pool has ended. */
  readonly onClosed?: () => Promise<void>;
}

/** Transactions that run or wait. More would time out in the queue: a bound turns an overload into refusals at once. */
const maxTransactions = 10_000;

export function createPoolDatabase(pool: ClientPool, options: PoolDatabaseOptions = {}): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? defaultStatementTimeoutMs;
  const { prepared = null } = options;
  const transactions = new FairShare({ max: maxTransactions, what: "statements for the database" });
  const turns = new FairTurns(pool.options.max, {
    maxWaitMs: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
    toLate: () => databaseUnavailable(new Error("The statement waited too long for a connection")),
  });
  let closed: Promise<void> | null = null;
  // An idle connection that breaks is dropped by the pool; without a listener the event would end the process.
  pool.on("error", ignore);

  return {
    statementTimeoutMs,
    async transact(statements, holder = "") {
      take(holder);
      try {
        return await turns.run(holder, () => run(new BatchQuery(statements, prepared)));
      } catch (error) {
        if (!(error instanceof DatabaseError && prepared?.isLost(error.sqlState) === true)) throw error;
        return await turns.run(holder, () => run(new BatchQuery(statements)));
      } finally {
        transactions.give(holder);
      }
    },
    close() {
      closed ??= pool.end().then(options.onClosed);
      return closed;
    },
  };

  /** What the gateway asks for itself is no tenant's fault. */
  function take(holder: string): void {
    try {
      transactions.take(holder);
    } catch (error) {
      throw holder === "" ? databaseUnavailable(new Error("Too many statements wait for a connection")) : error;
    }
  }

  async function run(batch: BatchQuery): Promise<Rows> {
    return await runBatch(await connectTo(pool), batch, statementTimeoutMs + answerGraceMs);
  }
}

/** The pool rejects for most failures, and throws for some. */
async function connectTo(pool: ClientPool): Promise<PooledClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw toDatabaseError(error);
  }
}

/** Runs on one client and gives it back; a client that failed to answer is destroyed. */
async function runBatch(client: PooledClient, batch: BatchQuery, deadlineMs: number): Promise<Rows> {
  let isBroken = false;
  const deadline = setTimeout(() => batch.handleError(new Error(`No answer within ${deadlineMs} ms`)), deadlineMs);
  // A broken connection fails the batch too; without a listener the event would end the process.
  client.on("error", ignore);
  try {
    client.query(batch);
    return await batch.result;
  } catch (error) {
    const failure = toDatabaseError(error);
    isBroken = failure instanceof AppError;
    throw failure;
  } finally {
    clearTimeout(deadline);
    client.off("error", ignore);
    client.release(isBroken);
  }
}

function ignore(): void {}
