import { sql } from "drizzle-orm";
import { drizzle, type PgRemoteDatabase } from "drizzle-orm/pg-proxy";
import { isUuid } from "../shared/channel_name.ts";
import type { Database, Statement } from "./database.ts";
import { DatabaseError, unwrapDatabaseError } from "./database_error.ts";
import journal from "./migrations/meta/_journal.json" with { type: "json" };
import { adminRole, appRole } from "./roles.ts";

/**
 * Drizzle, bound to one tenant. Each awaited statement is a separate transaction that begins by taking on the
 * application role and the tenant, all sent in one round trip on every driver. So a write that must not happen by halves
 * is one statement (a CTE where it touches two tables), and a statement reads what the one before it committed.
 */
export type TenantDatabase = Omit<PgRemoteDatabase, "transaction" | "query" | "$count" | "refreshMaterializedView">;

export interface TenantOptions {
  /** Runs in the transaction of each statement, before it: when it fails, the statement does not run. */
  readonly guard?: Statement;
  /** Who acts, `<kind>:<id>`, for the audit trail. Default: the gateway itself. */
  readonly actor?: string;
  /** Who waits for the database in turns with others. Default: the tenant. */
  readonly holder?: string;
}

/**
 * Runs `work` with row-level security narrowed to one tenant. A guard runs at least once, also when `work` sends
 * no statement or throws before its first one. Throws `TypeError` for a tenant id that is no canonical lower-case UUID; rejects with
 * `AppError("unavailable")` or `DatabaseError`, and with what `work` throws.
 */
export async function withTenant<Result>(
  database: Database,
  tenantId: string,
  work: (db: TenantDatabase) => Promise<Result>,
  options: TenantOptions = {},
): Promise<Result> {
  if (!isUuid(tenantId)) throw new TypeError("Cannot query: the tenant id is not a canonical lower-case UUID");
  return await run(database, { ...options, role: appRole.name, tenantId }, work);
}

/**
 * As `withTenant`, over all tenants, for the admin commands. Rejects with `DatabaseError` (SQLSTATE 42501) when the role
 * of `DATABASE_URL` may not take on the admin role.
 */
export async function asOwner<Result>(
  database: Database,
  work: (db: TenantDatabase) => Promise<Result>,
): Promise<Result> {
  return await run(database, { role: adminRole.name, tenantId: "" }, work);
}

/** Sees no row of any table; may call the functions that look across tenants, see `across_tenants.ts`. */
export async function withoutTenant<Result>(
  database: Database,
  work: (db: TenantDatabase) => Promise<Result>,
  options: Pick<TenantOptions, "holder"> = {},
): Promise<Result> {
  return await run(database, { ...options, role: appRole.name, tenantId: "" }, work);
}

/**
 * True when every migration of this version was applied. Rejects with `DatabaseError` (SQLSTATE 42501) when the tables
 * are there, but the role of `DATABASE_URL` may not take on the application role.
 */
export async function isMigrated(database: Database): Promise<boolean> {
  const newest = Math.max(...journal.entries.map((entry) => entry.when));
  try {
    const rows = await withoutTenant(database, (db) =>
      db.execute(sql`select 1 from scanstream.migrations where created_at >= ${newest} limit 1`),
    );
    return rows.length > 0;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (error.sqlState === roleDenied && (await hasTables(database))) throw error;
    if (notThere.has(error.sqlState)) return false;
    throw error;
  }
}

/** Resolves when the database answers now; rejects with `AppError("unavailable")`. */
export async function ping(database: Database): Promise<void> {
  await database.transact([{ sql: "select 1", params: [] }]);
}

const roleDenied = "42501";
/** No such role (22023), table (42P01) or schema (3F000), or a role that only another database's migration granted. */
const notThere: ReadonlySet<string> = new Set(["22023", "42P01", "3F000", roleDenied]);

async function hasTables(database: Database): Promise<boolean> {
  const { rows } = await database.transact([{ sql: "select to_regclass('scanstream.migrations')", params: [] }]);
  return typeof rows[0]?.[0] === "string";
}

interface TransactionSettings extends TenantOptions {
  readonly role: string;
  /** Empty: none. */
  readonly tenantId: string;
}

async function run<Result>(
  database: Database,
  settings: TransactionSettings,
  work: (db: TenantDatabase) => Promise<Result>,
): Promise<Result> {
  const { guard, tenantId, holder = tenantId } = settings;
  const begin = beginAs(settings, database.statementTimeoutMs);
  const beginGuarded = guard === undefined ? [begin] : [begin, guard];
  let hasGuardRun = guard === undefined;
  const db = drizzle(async (text, params, method) => {
    hasGuardRun = true;
    const { columns, rows } = await database.transact([...beginGuarded, { sql: text, params }], holder);
    if (method === "all") return { rows: [...rows] };
    return { rows: rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]]))) };
  });
  try {
    return await work(db);
  } catch (error) {
    throw unwrapDatabaseError(error);
  } finally {
    // Also where the work was refused before its first statement: the guard's own error comes first.
    if (!hasGuardRun) await database.transact(beginGuarded, holder);
  }
}

/**
 * What every transaction starts with; `set_config('role', …, true)` is SET LOCAL ROLE with a parameter. The search path is
 * set so that no role's own setting can put another table in its place.
 */
function beginAs(settings: TransactionSettings, statementTimeoutMs: number): Statement {
  return {
    sql: `select set_config('role', $1, true), set_config('app.tenant_id', $2, true),
      set_config('app.actor', $4, true), set_config('statement_timeout', $3, true), set_config('search_path', 'public, pg_temp', true)`,
    params: [settings.role, settings.tenantId, String(statementTimeoutMs), settings.actor ?? ""],
  };
}
