import { FairShare } from "../../shared/fair_share.ts";
import { FairTurns } from "../../shared/fair_turns.ts";
import {
  type Database,
  type DatabaseOptions,
  defaultConnectTimeoutMs,
  defaultStatementTimeoutMs,
  type TenantDatabase,
  type TransactionSettings,
} from "../database.ts";
import { databaseUnavailable, toDatabaseError } from "../database_error.ts";
import { type Connection, transact } from "../transact.ts";

/** The connections of one driver. */
export interface ConnectionPool {
  readonly maxConnections: number;
  connect(): Promise<Connection>;
  end(): Promise<void>;
}

/** Transactions that run or wait. More would time out in the queue: a bound turns an overload into refusals at once. */
const maxTransactions = 10_000;

/** Transactions over connections that are kept, in turns of those who wait for them. */
export function createPooledDatabase(pool: ConnectionPool, options: DatabaseOptions = {}): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? defaultStatementTimeoutMs;
  const transactions = new FairShare({ max: maxTransactions, what: "statements for the database" });
  const turns = new FairTurns(pool.maxConnections, {
    maxWaitMs: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
    toLate: () => databaseUnavailable(new Error("The statement waited too long for a connection")),
  });
  let closed: Promise<void> | null = null;

  return {
    transact: (settings, work) => inTurn(settings, work, false),
    transactOne: (settings, query) => inTurn(settings, async (db) => query(db), true),
    close() {
      closed ??= pool.end();
      return closed;
    },
  };

  async function inTurn<Result>(
    settings: TransactionSettings,
    work: (db: TenantDatabase) => Promise<Result>,
    isOne: boolean,
  ): Promise<Result> {
    const { holder = settings.tenantId } = settings;
    take(holder);
    try {
      return await turns.run(holder, async () =>
        transact(await connect(), work, { settings, statementTimeoutMs, isOne }),
      );
    } finally {
      transactions.give(holder);
    }
  }

  /** The pool rejects for most failures, and throws for some. */
  async function connect(): Promise<Connection> {
    try {
      return await pool.connect();
    } catch (error) {
      throw toDatabaseError(error);
    }
  }

  /** A refusal of the gateway's own transaction is no tenant's fault. */
  function take(holder: string): void {
    try {
      transactions.take(holder);
    } catch (error) {
      throw holder === "" ? databaseUnavailable(new Error("Too many statements wait for a connection")) : error;
    }
  }
}
