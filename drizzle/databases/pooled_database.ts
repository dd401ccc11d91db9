import { type Database, type DatabaseOptions, defaultStatementTimeoutMs } from "../database.ts";
import { toDatabaseError } from "../database_error.ts";
import { type Connection, transact } from "../transact.ts";

/** The connections of one driver, which waits for one when all are in use. */
export interface ConnectionPool {
  connect(): Promise<Connection>;
  end(): Promise<void>;
}

/** Transactions over connections that are kept. */
export function createPooledDatabase(
  pool: ConnectionPool,
  { statementTimeoutMs = defaultStatementTimeoutMs }: DatabaseOptions = {},
): Database {
  let closed: Promise<void> | null = null;

  return {
    transact: async (settings, work) => transact(await connect(), work, { settings, statementTimeoutMs, isOne: false }),
    transactOne: async (settings, query) =>
      transact(await connect(), async (db) => query(db), { settings, statementTimeoutMs, isOne: true }),
    close() {
      closed ??= pool.end();
      return closed;
    },
  };

  /** The pool rejects for most failures, and throws for some. */
  async function connect(): Promise<Connection> {
    try {
      return await pool.connect();
    } catch (error) {
      throw toDatabaseError(error);
    }
  }
}
