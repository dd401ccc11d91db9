import { isUnavailable, type AppError } from "../shared/app_error.ts";
import { withTimeout } from "../shared/with_timeout.ts";
import {
  answerGraceMs,
  type Database,
  type DatabaseOptions,
  defaultTimeouts,
  type TenantDatabase,
  type TransactionSettings,
} from "./database.ts";
import { DatabaseError, databaseUnavailable, toDatabaseError, unwrapDatabaseError } from "./database_error.ts";

/** The part of a driver's client that Drizzle calls. */
interface QueryClient {
  readonly query: (...query: readonly never[]) => Promise<unknown>;
}

/** A pool of node-postgres, or one with its interface. */
interface ClientPool {
  connect(): Promise<Client & { release(isBroken: boolean): void }>;
  on(event: "connect", listener: (client: Client) => void): unknown;
  on(event: "error", listener: () => void): unknown;
  end(): Promise<void>;
}

interface Client {
  query(text: string): Promise<unknown>;
  on(event: "error", listener: () => void): unknown;
}

export function toConnectionPool(pool: ClientPool, drizzle: Connection["drizzle"]): ConnectionPool {
  // A connection that breaks fails its queries and leaves the pool; without listeners the events would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return {
    async connect() {
      const client = await pool.connect();
      return {
        query: (...query) => client.query(...(query as unknown as [string])),
        async execute(sql) {
          // Several statements have a list of results, contrary to the types of the drivers.
          const results = [await client.query(sql)].flat() as readonly { readonly command: string }[];
          return results.at(-1)?.command;
        },
        drizzle,
        release: (isBroken) => client.release(isBroken),
      };
    },
    end: () => pool.end(),
  };
}

/** One connection, while one transaction has it for itself. */
export interface Connection extends QueryClient {
  /** Sends one simple query; resolves with the tag of its last statement, where the driver tells it. */
  execute(sql: string): Promise<string | undefined>;
  /** Drizzle's own driver over this client. */
  drizzle(client: QueryClient): TenantDatabase;
  /** Gives the connection back. A broken one is destroyed. */
  release(isBroken: boolean): Promise<void> | void;
}

/** The connections of one driver, which waits for one when all are in use. */
export interface ConnectionPool {
  connect(): Promise<Connection>;
  /** Sends the one query of an access `one`, with the statements that it begins with, in one request. Default: over a connection. */
  sendOne?<Result>(begin: readonly string[], query: (db: TenantDatabase) => PromiseLike<Result>): Promise<Result>;
  end(): Promise<void>;
}

/** Transactions over connections that are kept. */
export function createPooledDatabase(
  pool: ConnectionPool,
  { statementTimeoutMs = defaultTimeouts.statementTimeoutMs }: DatabaseOptions = {},
): Database {
  let closed: Promise<void> | null = null;

  return {
    async transact(settings, work) {
      if (closed !== null) throw databaseUnavailable(new Error("The database was closed"));
      const options = { ...settings, statementTimeoutMs };
      if (settings.access === "one" && pool.sendOne) return pool.sendOne(settingStatements(options), work);
      const connection = await pool.connect().catch((error: unknown) => {
        throw toDatabaseError(error);
      });
      return transact(connection, work, options);
    },
    close: () => (closed ??= pool.end()),
  };
}

type TransactOptions = TransactionSettings & Required<Pick<DatabaseOptions, "statementTimeoutMs">>;

/**
 * Runs `work` as one transaction of this connection, and gives the connection back. `begin` is sent together with the first
 * query: when it fails, the server refuses that query too, and the error of `begin` is the one that is thrown. COMMIT is sent right
 * behind a query that is the only one.
 *
 * It replaces Drizzle's `transaction`, which waits for `begin`, keeps a client that does not answer, and takes a COMMIT that
 * the server turned into a ROLLBACK for a success.
 */
async function transact<Result>(
  connection: Connection,
  work: (db: TenantDatabase) => PromiseLike<Result>,
  options: TransactOptions,
): Promise<Result> {
  const { access } = options;
  const deadlineMs = options.statementTimeoutMs + answerGraceMs;
  let isOpen = true;
  let failure: DatabaseError | AppError | null = null;
  let isBroken = false;
  let committed: Promise<string | undefined> | null = null;
  try {
    return await withTimeout(run(), deadlineMs, () => {
      isBroken = true;
      // The code is what the log shows: the database may be fast, and what ran in the transaction slow.
      const cause = new Error(`The transaction took longer than ${deadlineMs} ms`);
      return databaseUnavailable(Object.assign(cause, { code: "transaction_timeout" }));
    });
  } catch (error) {
    throw unwrapDatabaseError(error);
  } finally {
    isOpen = false;
    await connection.release(isBroken);
  }

  async function run(): Promise<Result> {
    // `read` is one state for all of its statements; each statement of `write` sees what others committed before it.
    const isolation = access === "read" ? "repeatable read read only" : "read committed";
    const begin = [`begin isolation level ${isolation}`, ...settingStatements(options)];
    const begun = answered(connection.execute(begin.join("; ")));
    const db = connection.drizzle({
      query(...query) {
        if (!isOpen) throw new DatabaseError("Cannot query: the transaction has ended", "25000");
        const answer = answered(connection.query(...query));
        if (access === "one") void end();
        return answer;
      },
    });
    try {
      const result = await work(db);
      await begun;
      // Also where `work` did not await it: a connection that broke is no mistake of `work`.
      if (isUnavailable(failure)) throw failure;
      if (failure !== null || (await end()) === "ROLLBACK") throw new Error("Cannot commit: a statement has failed");
      return result;
    } catch (error) {
      // Queries that `work` has not awaited may follow: behind the rollback they would be stored.
      isOpen = false;
      // The answer does not matter: the error has undone everything.
      await (committed ?? (isBroken ? undefined : connection.execute("rollback")))?.catch(() => {});
      // The error of `begin` comes first: without it, the statement might not have failed.
      await begun;
      throw error;
    }
  }

  function end(): Promise<string | undefined> {
    isOpen = false;
    return (committed ??= answered(connection.execute("commit")));
  }

  /** Whoever awaits it gets the failure; nobody has to. */
  function answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const known = answer.catch((cause: unknown) => {
      const error = toDatabaseError(cause, access);
      failure ??= error;
      isBroken ||= isUnavailable(error);
      throw error;
    });
    known.catch(() => {});
    return known;
  }
}

/**
 * The statements that a transaction starts with, after `begin`; none has a parameter, so that they are one simple query.
 * `set_config('role', …, true)` is SET LOCAL ROLE. The search path keeps a role's own setting from putting another table in
 * its place, and the date style from times that nobody here can read.
 */
function settingStatements(options: TransactOptions): readonly string[] {
  const { role, tenantId, actor = "", authority, statementTimeoutMs } = options;
  const settings = {
    ...(role === null ? {} : { role }),
    "app.tenant_id": tenantId,
    "app.actor": actor,
    statement_timeout: String(statementTimeoutMs),
    // A client that vanished holds no lock for long.
    idle_in_transaction_session_timeout: String(2 * statementTimeoutMs),
    search_path: "public, pg_temp",
    datestyle: "ISO",
  };
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', ${literal(value)}, true)`);
  const select = `select ${calls.join(", ")}`;
  return authority === undefined ? [select] : [select, authority];
}

/** A text in SQL, also where the server reads backslashes as escapes. Throws `TypeError` for a NUL, which no text has there. */
export function literal(text: string): string {
  if (text.includes("\0")) throw new TypeError("Cannot send a text with a NUL character to the database");
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return quoted.includes("\\") ? ` E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}
