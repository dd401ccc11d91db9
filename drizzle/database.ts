/** One SQL statement as Drizzle built it. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** What a statement returned: values are text, boolean, number (int2, int4) or null; Drizzle's columns decode the rest. */
export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/**
 * The port to Postgres, one implementation per driver in `databases/`. Nothing but `with_tenant.ts` calls `transact`.
 *
 * What one `transact` costs, for any number of statements: over TCP one round trip, over Neon's
 * HTTP one request, on PGlite about a millisecond of this process's time.
 *
 * Every failure is an `AppError("unavailable")` (the database is unreachable, slow or full) or a `DatabaseError`.
 */
export interface Database {
  /** The server's limit for one transaction; the client gives up shortly after. */
  readonly statementTimeoutMs: number;
  /**
   * Runs the statements in order as one transaction and returns the rows of the last one. When one fails, all are
   * undone and none after it runs. Settings made with `set_config(…, true)` end with the transaction. `holder` is whom it is for,
   * a tenant's id as a rule: holders take turns, and one that has far too many waiting is refused with `AppError("too_many")`.
   */
  transact(statements: readonly Statement[], holder?: string): Promise<Rows>;
  /** Releases every connection. Idempotent. */
  close(): Promise<void>;
}

/** What a driver needs in addition to its URL; every default suits a server that refuses rather than hangs. */
export interface DatabaseOptions {
  /** At most this many connections. */
  readonly maxConnections?: number;
  /** How long to wait for a connection, from the pool or to the server. */
  readonly connectTimeoutMs?: number;
  /** How long one transaction may take once it was sent. */
  readonly statementTimeoutMs?: number;
}

export const defaultConnectTimeoutMs = 3_000;
export const defaultStatementTimeoutMs = 4_000;

/** A server that is alive answers a cancelled statement within this; after it the connection counts as dead. */
export const answerGraceMs = 500;
