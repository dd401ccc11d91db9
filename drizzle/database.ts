import type { Logger } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import type { RunnableQuery } from "drizzle-orm/runnable-query";

/** The part of a result of raw SQL that every driver has. */
type Rows<Row> = { readonly rows: readonly Row[] };

interface RowsHKT extends PgQueryResultHKT {
  readonly type: Rows<this["row"]>;
}

/** Drizzle, inside one transaction. It refuses queries after the end of the transaction. */
export type TenantDatabase = Omit<
  PgDatabase<RowsHKT>,
  "transaction" | "query" | "$count" | "refreshMaterializedView" | "$client"
>;

/** A query that was built and not executed. */
export type Query<Result> = RunnableQuery<Result, "pg"> & PromiseLike<Result>;

/** The settings that a transaction begins with; all of them end with it. */
export interface TransactionSettings {
  /** Null: the role of `DATABASE_URL`, which has no right on any table. */
  readonly role: "scanstream_app" | "scanstream_admin" | null;
  /** Empty: none. */
  readonly tenantId: string;
  /** `read`: every statement sees the state at the beginning, and none may write. `one`: `work` builds one query, and does not execute it. */
  readonly access: "read" | "write" | "one";
  /** The actor, `<kind>:<id>`, for the audit trail. Default: the gateway itself. */
  readonly actor?: string;
  /** SQL that fails when the caller lacks the authority; then no other statement runs. */
  readonly authority?: string;
  /** The address whose request it is, until its tenant is known. */
  readonly holder?: string;
}

/**
 * The port to Postgres, one implementation per driver in `databases/`. Only `transactions.ts` calls it.
 *
 * Every failure is an `AppError("unavailable")` (the database is unreachable, slow or full), a `DatabaseError`, or what
 * `work` throws; nothing is stored then.
 */
export interface Database {
  /**
   * Runs `work` in one transaction. Two round trips more than the queries of `work` over Neon, one more over TCP; one query alone is one
   * round trip over TCP, and one request over Neon's HTTP.
   */
  transact<Result>(settings: TransactionSettings, work: (db: TenantDatabase) => PromiseLike<Result>): Promise<Result>;
  /** Releases every connection. Idempotent. */
  close(): Promise<void>;
}

/** Options of a driver besides its URL; every default suits a server that refuses rather than hangs. */
export interface DatabaseOptions {
  /** At most this many connections. */
  readonly maxConnections?: number;
  /** How long to wait for a connection, from the pool or to the server. */
  readonly connectTimeoutMs?: number;
  /** How long one statement may take on the server, and one transaction in all. */
  readonly statementTimeoutMs?: number;
  /** Receives each query with its parameters. */
  readonly logger?: Logger;
}

export const defaultTimeouts = { connectTimeoutMs: 3_000, statementTimeoutMs: 4_000 };

/** A server that is alive answers a cancelled statement within this; after it the connection counts as dead. */
export const answerGraceMs = 500;
