import { sql } from "drizzle-orm";
import { drizzle, type PgRemoteDatabase } from "drizzle-orm/pg-proxy";
import { isUuid } from "../shared/channel_name.ts";
import type { Scope } from "../shared/schemas/team.ts";
import type { LogStatus } from "../shared/schemas/monitor_requests.ts";
import type { Delivery, WebhookFormat } from "../shared/schemas/webhook.ts";
import type { Database, Statement } from "./database.ts";
import { DatabaseError, unwrapDatabaseError } from "./database_error.ts";
import journal from "./migrations/meta/_journal.json" with { type: "json" };
import { adminRole, appRole } from "./roles.ts";

/**
 * Drizzle, bound to one tenant. Each awaited statement is a transaction of its own that begins by taking on the
 * application role and the tenant, all sent in one round trip on every driver. So a write that must not happen by halves
 * is one statement (a CTE where it touches two tables), and a statement reads what the one before it committed.
 */
export type TenantTransaction = Omit<PgRemoteDatabase, "transaction" | "query" | "$count" | "refreshMaterializedView">;

export interface TenantOptions {
  /** Runs in the transaction of each statement, before it: when it fails, the statement does not run. */
  readonly guard?: Statement;
  /** Who acts, `<kind>:<id>`, for the audit trail. Default: the gateway itself. */
  readonly actor?: string;
}

/**
 * Runs `work` with row-level security narrowed to one tenant. A guard runs at least once, also when `work` sends
 * no statement. Throws `TypeError` for a tenant id that is no canonical lower-case UUID; rejects with
 * `AppError("unavailable")` or `DatabaseError`, and with whatever `work` throws.
 */
export async function withTenant<Result>(
  database: Database,
  tenantId: string,
  work: (tx: TenantTransaction) => Promise<Result>,
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
  work: (tx: TenantTransaction) => Promise<Result>,
): Promise<Result> {
  return await run(database, { role: adminRole.name, tenantId: "" }, work);
}

export interface FoundApiKey {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Null: it does not expire. */
  readonly expiresAtMs: number | null;
}

/** The key with exactly this SHA-256 (lower-case hex) unless it was revoked or has expired; null otherwise. One round trip. */
export async function findApiKey(database: Database, hash: string): Promise<FoundApiKey | null> {
  const rows = await run(database, noTenant, (tx) =>
    tx.execute<{ id: string; tenant_id: string; name: string; scopes: string; expires_at_ms: string | null }>(sql`
      select id, tenant_id, name, array_to_json(scopes)::text as scopes,
        floor(extract(epoch from expires_at) * 1000)::bigint as expires_at_ms
      from scanstream.find_valid_api_key(${hash})`),
  );
  const [row] = rows;
  if (row === undefined) return null;
  const expiresAtMs = row.expires_at_ms === null ? null : Number(row.expires_at_ms);
  return { id: row.id, tenantId: row.tenant_id, name: row.name, scopes: JSON.parse(row.scopes), expiresAtMs };
}

export interface ExpiredScan {
  readonly id: string;
  readonly tenantId: string;
  /** Counts of checks up to then. */
  readonly pass: number;
  readonly fail: number;
  readonly manual: number;
}

/**
 * Ends every scan without a heartbeat for that long (at least a minute), over all tenants. Each is returned to
 * one caller only, at most 1,000 per call; call again until none is left.
 */
export async function expireStaleScans(database: Database, olderThanMinutes: number): Promise<readonly ExpiredScan[]> {
  if (!(olderThanMinutes >= 1 && olderThanMinutes <= 1_000_000)) {
    throw new RangeError(`Cannot expire scans older than ${olderThanMinutes} minutes: expected 1 to 1,000,000`);
  }
  const rows = await run(database, noTenant, (tx) =>
    tx.execute<{ id: string; tenant_id: string; pass: number; fail: number; manual: number }>(
      sql`select id, tenant_id, pass, fail, manual from scanstream.expire_stale_scans(${olderThanMinutes})`,
    ),
  );
  return rows.map(({ tenant_id: tenantId, ...scan }) => ({ ...scan, tenantId }));
}

/** What one step has deleted. */
export interface DeletionStep {
  readonly deleted: readonly DeletedByAge[];
  readonly hasMore: boolean;
}

export interface DeletedByAge {
  readonly kind: "scan" | "monitor";
  readonly id: string;
  readonly tenantId: string;
}

/**
 * Deletes, over all tenants, scans and monitors that ended longer ago (at least a day), at most so many rows of any table.
 * While another caller does the same, nothing.
 */
export async function deleteExpired(
  database: Database,
  { olderThanDays, maxRows }: { readonly olderThanDays: number; readonly maxRows: number },
): Promise<DeletionStep> {
  const rows = await run(database, noTenant, (tx) =>
    tx.execute<{ kind: string; id: string; tenant_id: string }>(
      sql`select kind, id, tenant_id from scanstream.delete_expired(${olderThanDays}, ${maxRows}::integer)`,
    ),
  );
  const deleted = rows.flatMap(({ kind, id, tenant_id: tenantId }) =>
    kind === "scan" || kind === "monitor" ? [{ kind, id, tenantId } as const] : [],
  );
  return { deleted, hasMore: rows.length > deleted.length };
}

export interface FoundDoorbell {
  readonly tenantId: string;
  /** SHA-256 of the secret in lower-case hex. */
  readonly hash: string;
}

/** The doorbell of a monitor that has one and has not ended; null otherwise. */
export async function findDoorbell(database: Database, monitorId: string): Promise<FoundDoorbell | null> {
  const [row] = await run(database, noTenant, (tx) =>
    tx.execute<{ tenant_id: string; doorbell_hash: string }>(
      sql`select tenant_id, doorbell_hash from scanstream.find_doorbell(${monitorId}::uuid)`,
    ),
  );
  return row === undefined ? null : { tenantId: row.tenant_id, hash: row.doorbell_hash };
}

export interface StaleMonitor {
  readonly id: string;
  readonly tenant_id: string;
  readonly log_status: LogStatus;
  readonly error_code: string | null;
  readonly last_look_at: string | null;
  readonly lag_seconds: number | null;
  readonly checks_total: number;
  /** Counts of checks up to then. */
  readonly pass: number;
  readonly fail: number;
  readonly manual: number;
}

/**
 * Marks every running monitor without a heartbeat for three intervals, at least a minute, over all tenants. Each is
 * returned to one caller only and once until its next heartbeat, at most 1,000 per call; call again until none is left.
 */
export async function markStaleMonitors(database: Database): Promise<readonly StaleMonitor[]> {
  const rows = await run(database, noTenant, (tx) =>
    tx.execute<Omit<StaleMonitor, "lag_seconds"> & { lag_seconds: string | null }>(sql`
    select id, tenant_id, log_status, error_code, last_look_at, lag_seconds, checks_total, pass, fail, manual
    from scanstream.mark_stale_monitors()`),
  );
  return rows.map((row) => ({ ...row, lag_seconds: row.lag_seconds === null ? null : Number(row.lag_seconds) }));
}

export interface ClaimOptions {
  readonly most: number;
  /** No other caller gets them sooner. */
  readonly leaseSeconds: number;
  /** None for these. */
  readonly busyHosts: readonly string[];
  readonly busyTenants: readonly string[];
}

export interface ClaimedDelivery {
  readonly id: string;
  readonly tenantId: string;
  readonly webhookId: string;
  readonly type: Delivery["type"];
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  /** With this one. */
  readonly attempts: number;
  /** Failed attempts since it was queued or replayed. */
  readonly failures: number;
  readonly url: string;
  readonly host: string;
  readonly format: WebhookFormat;
  /** The newest first. */
  readonly secrets: readonly string[];
}

/** Webhook deliveries that are due, over all tenants; each is returned to one caller until its lease ends. */
export async function claimDeliveries(
  database: Database,
  { most, leaseSeconds, busyHosts, busyTenants }: ClaimOptions,
): Promise<readonly ClaimedDelivery[]> {
  const rows = await run(database, noTenant, (tx) =>
    tx.execute<
      Pick<ClaimedDelivery, "id" | "type" | "attempts" | "failures" | "url" | "host" | "format"> &
        Record<"tenant_id" | "webhook_id" | "data" | "created_at" | "secrets", string>
    >(sql`
      select id, tenant_id, webhook_id, type, data, created_at, attempts, failures, url, host, format, secrets
      from scanstream.claim_webhook_deliveries(${most}::integer, ${leaseSeconds}::double precision,
        ${sql.param(busyHosts)}::text[], ${sql.param(busyTenants)}::uuid[])`),
  );
  return rows.map(({ tenant_id: tenantId, webhook_id: webhookId, created_at: createdAt, data, secrets, ...row }) => ({
    ...row,
    tenantId,
    webhookId,
    createdAt,
    data: JSON.parse(data),
    secrets: JSON.parse(secrets),
  }));
}

export interface DeliveryBacklog {
  readonly pending: number;
  /** Below 0: overdue. Null: none is pending. */
  readonly dueInSeconds: number | null;
}

/** Of all tenants, without the webhooks that are disabled. */
export async function deliveryBacklog(database: Database): Promise<DeliveryBacklog> {
  const [row] = await run(database, noTenant, (tx) =>
    tx.execute<{ pending: string; due_in_seconds: string | null }>(
      sql`select pending, due_in_seconds from scanstream.webhook_backlog()`,
    ),
  );
  const dueIn = row?.due_in_seconds ?? null;
  return { pending: Number(row?.pending ?? 0), dueInSeconds: dueIn === null ? null : Number(dueIn) };
}

/**
 * True when every migration of this version was applied. Rejects with `DatabaseError` (SQLSTATE 42501) when the tables
 * are there, but the role of `DATABASE_URL` may not take on the application role.
 */
export async function isMigrated(database: Database): Promise<boolean> {
  const newest = Math.max(...journal.entries.map((entry) => entry.when));
  try {
    const rows = await run(database, noTenant, (tx) =>
      tx.execute(sql`select 1 from scanstream.migrations where created_at >= ${newest} limit 1`),
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

/** Sees no row of any table; may call the functions that look across tenants. */
const noTenant: TransactionSettings = { role: appRole.name, tenantId: "" };

async function run<Result>(
  database: Database,
  settings: TransactionSettings,
  work: (tx: TenantTransaction) => Promise<Result>,
): Promise<Result> {
  const { guard } = settings;
  const begin = beginAs(settings, database.statementTimeoutMs);
  const beginGuarded = guard === undefined ? [begin] : [begin, guard];
  let hasGuardRun = guard === undefined;
  const tx = drizzle(async (text, params, method) => {
    hasGuardRun = true;
    const { columns, rows } = await database.transact([...beginGuarded, { sql: text, params }]);
    if (method === "all") return { rows: [...rows] };
    return { rows: rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]]))) };
  });
  try {
    const result = await work(tx);
    if (!hasGuardRun) await database.transact(beginGuarded);
    return result;
  } catch (error) {
    throw unwrapDatabaseError(error);
  }
}

/**
 * What every transaction starts with; `set_config('role', …, true)` is SET LOCAL ROLE with a parameter. The search path is
 * set so that no role's own setting can put another table in the place of ours.
 */
function beginAs(settings: TransactionSettings, statementTimeoutMs: number): Statement {
  return {
    sql: `select set_config('role', $1, true), set_config('app.tenant_id', $2, true),
      set_config('app.actor', $4, true), set_config('statement_timeout', $3, true), set_config('search_path', 'public, pg_temp', true)`,
    params: [settings.role, settings.tenantId, String(statementTimeoutMs), settings.actor ?? ""],
  };
}
