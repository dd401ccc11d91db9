import { sql, type SQL } from "drizzle-orm";
import { isUuid } from "../shared/channel_name.ts";
import type { Database, Query, TenantDatabase, TransactionSettings } from "./database.ts";
import { DatabaseError, databaseUnavailable } from "./database_error.ts";
import journal from "./migrations/meta/_journal.json" with { type: "json" };

export type { Query, TenantDatabase };

/** The subject that a transaction runs for: row-level security leaves it the rows of its tenant. */
export interface Caller extends Pick<TransactionSettings, "actor" | "authority" | "holder"> {
  readonly tenantId: string | null;
  /** Default: the application's. */
  readonly role?: "scanstream_admin";
}

/**
 * Sees and writes the rows of all tenants, for the admin commands. A transaction rejects with `DatabaseError` (SQLSTATE 42501)
 * when the role of `DATABASE_URL` may not take on the admin role.
 */
export const everyTenant: Caller = { tenantId: null, role: "scanstream_admin", actor: "operator:" };

/** Sees no row of any table; may call the functions that search all tenants, see `across_tenants.ts`. */
export const noTenant: Caller = { tenantId: null };

/**
 * Runs one query that was not executed yet, as a transaction: one round trip over TCP, one request over Neon's HTTP.
 *
 * This and the two below throw `TypeError` for a tenant id that is not a canonical lower-case UUID. They reject with
 * `AppError("unavailable")` or `DatabaseError`, and with what `work` throws. They are never nested.
 */
export async function readOne<Result>(
  database: Database,
  caller: Caller,
  query: (db: TenantDatabase) => Query<Result>,
): Promise<Result> {
  return database.transact(settingsOf(caller, "one"), query);
}

/** Runs `work` in a transaction that sees one state, whatever is committed meanwhile. It cannot write. */
export const read = transactionOf("read");

/** Runs `work` in a transaction: all of it is stored, or nothing. */
export const write = transactionOf("write");

function transactionOf(access: "read" | "write") {
  return async <Result>(database: Database, caller: Caller, work: (db: TenantDatabase) => Promise<Result>) =>
    database.transact(settingsOf(caller, access), work);
}

function settingsOf({ tenantId, ...caller }: Caller, access: TransactionSettings["access"]): TransactionSettings {
  if (tenantId !== null && !isUuid(tenantId)) {
    throw new TypeError("Cannot query: the tenant id is not a canonical lower-case UUID");
  }
  return { role: "scanstream_app", ...caller, tenantId: tenantId ?? "", access };
}

/**
 * True when every migration of this version was applied. Rejects with `DatabaseError` (SQLSTATE 42501) when the tables
 * are there, but the role of `DATABASE_URL` may not take on the application role.
 */
export async function isMigrated(database: Database): Promise<boolean> {
  const newest = Math.max(...journal.entries.map((entry) => entry.when));
  try {
    const { rows } = await readOne(database, noTenant, (db) =>
      db.execute(sql`select 1 from scanstream.migrations where created_at >= ${newest} limit 1`),
    );
    return rows.length > 0;
  } catch (error) {
    if (!(error instanceof DatabaseError && notThere.has(error.sqlState))) throw error;
    const table = sql`to_regclass('scanstream.migrations')::text`;
    if (error.sqlState === roleDenied && (await askWithoutRole(database, table)) !== null) throw error;
    return false;
  }
}

/** Resolves when the database answers now, and can be written to; rejects with `AppError("unavailable")`. */
export async function ping(database: Database): Promise<void> {
  const isReadOnly = await askWithoutRole(database, sql`current_setting('transaction_read_only')`);
  if (isReadOnly !== "off") throw databaseUnavailable(new Error("The database is read-only"));
}

/** True where the role of the URL is a superuser's or has BYPASSRLS: outside the gateway's transactions no policy binds it. Never rejects. */
export async function isAboveThePolicies(database: Database): Promise<boolean> {
  const role = sql`(select rolsuper or rolbypassrls from pg_roles where rolname = current_user)::text`;
  return (await askWithoutRole(database, role).catch(() => null)) === "true";
}

const roleDenied = "42501";
/** No such role (22023), table (42P01) or schema (3F000), or a role that only another database's migration granted. */
const notThere: ReadonlySet<string> = new Set(["22023", "42P01", "3F000", roleDenied]);

/** Returns the value of an expression, also where the role of the application is missing. */
async function askWithoutRole(database: Database, expression: SQL): Promise<string | null> {
  const { rows } = await database.transact({ role: null, tenantId: "", access: "one" }, (db) =>
    db.execute<{ value: string | null }>(sql`select ${expression} as value`),
  );
  return rows[0]?.value ?? null;
}
