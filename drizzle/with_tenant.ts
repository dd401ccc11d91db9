import type { PgRemoteDatabase } from "drizzle-orm/pg-proxy";
import type { Database } from "./database.ts";
import type * as schema from "./schema.ts";

/**
 * Drizzle, bound to one tenant. Each awaited statement is a transaction of its own that begins by taking on the
 * application role and the tenant, sent in one round trip on every driver. So a write that must not happen by halves
 * is one statement (a CTE where it touches two tables), and a statement reads what the one before it committed.
 */
export type TenantTransaction = Omit<PgRemoteDatabase<typeof schema>, "transaction" | "refreshMaterializedView">;

export interface FoundApiKey {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
}

export interface ExpiredScan {
  readonly id: string;
  readonly tenantId: string;
  readonly pass: number;
  readonly fail: number;
  readonly manual: number;
}

/**
 * Runs `work` with row-level security narrowed to one tenant. Throws `TypeError` for a tenant id that is no canonical
 * lower-case UUID; rejects with `AppError("unavailable")` or `DatabaseError`, and with whatever `work` throws.
 */
export declare function withTenant<Result>(
  database: Database,
  tenantId: string,
  work: (tx: TenantTransaction) => Promise<Result>,
): Promise<Result>;

/** As `withTenant`, over all tenants, for the admin commands. Rejects with `AppError("permission_denied")` when `DATABASE_URL` may not. */
export declare function asOwner<Result>(
  database: Database,
  work: (tx: TenantTransaction) => Promise<Result>,
): Promise<Result>;

/** The key with exactly this SHA-256 (lower-case hex) unless it was revoked; null otherwise. */
export declare function findApiKey(database: Database, hash: string): Promise<FoundApiKey | null>;

/** Ends every scan that gave no sign of life for that long, over all tenants; each is returned to one caller only. */
export declare function expireStaleScans(database: Database, olderThanMinutes: number): Promise<readonly ExpiredScan[]>;

/** Resolves when the database answers now; rejects with `AppError("unavailable")`. */
export declare function ping(database: Database): Promise<void>;

/** True when every migration was applied and the application role can be taken on. */
export declare function isMigrated(database: Database): Promise<boolean>;
