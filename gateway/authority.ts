import { and, eq, isNull, sql } from "drizzle-orm";
import { AppError, PermissionDenied } from "../shared/app_error.ts";
import type { Database, Statement } from "../drizzle/database.ts";
import { DatabaseError } from "../drizzle/database_error.ts";
import { apiKeys, memberships } from "../drizzle/schema.ts";
import { withTenant, type TenantTransaction } from "../drizzle/with_tenant.ts";
import { isUuid } from "../shared/channel_name.ts";
import { badToken } from "./jwt.ts";
import type { Principal } from "./principal.ts";

/**
 * As `withTenant`, for a principal whose authority has to hold as well: the user's membership, or the API key not being
 * revoked. Each statement is checked inside its own transaction, so the check costs no round trip and cannot be stale.
 *
 * Rejects with `PermissionDenied` for a user who is no member, `AppError("not_authenticated")` for a revoked key, and
 * with whatever `withTenant` rejects with.
 */
export async function withPrincipal<Result>(
  database: Database,
  principal: Principal,
  work: (tx: TenantTransaction) => Promise<Result>,
): Promise<Result> {
  requireStorableId(principal);
  try {
    return await withTenant(guarded(database, principal), principal.tenantId, work);
  } catch (error) {
    // The guard's own error could also be the feature's: asked again, only where something failed already.
    if (hasSqlState(error, guardSqlState) && !(await authorityHolds(database, principal)))
      throw authorityEnded(principal);
    throw error;
  }
}

/** True while the principal is a member, or its key is not revoked. Its `exp` is the caller's to watch. */
export async function authorityHolds(database: Database, principal: Principal): Promise<boolean> {
  if (principal.kind === "api_key" && !isUuid(principal.id)) return false;
  const rows = await withTenant(database, principal.tenantId, (tx) => {
    if (principal.kind === "user") {
      const isOwn = and(eq(memberships.tenantId, principal.tenantId), eq(memberships.userId, principal.id));
      return tx
        .select({ one: sql`1` })
        .from(memberships)
        .where(isOwn);
    }
    const isOwn = and(
      eq(apiKeys.tenantId, principal.tenantId),
      eq(apiKeys.id, principal.id),
      isNull(apiKeys.revokedAt),
    );
    return tx
      .select({ one: sql`1` })
      .from(apiKeys)
      .where(isOwn);
  });
  return rows.length > 0;
}

/** Division by zero: the shortest way for plain SQL to fail a transaction on a condition. */
const guardSqlState = "22012";

function guarded(database: Database, principal: Principal): Database {
  const guard: Statement =
    principal.kind === "user"
      ? {
          sql: "select 1 / count(*) from memberships where tenant_id = $1::uuid and user_id = $2",
          params: [principal.tenantId, principal.id],
        }
      : {
          sql: "select 1 / count(*) from api_keys where tenant_id = $1::uuid and id = $2::uuid and revoked_at is null",
          params: [principal.tenantId, principal.id],
        };
  return {
    ...database,
    // After the role and the tenant were taken on, and before the statement itself.
    transact: (statements) => database.transact([...statements.slice(0, -1), guard, ...statements.slice(-1)]),
  };
}

function authorityEnded(principal: Principal): AppError {
  if (principal.kind === "user") return new PermissionDenied("The token's subject is not a member of its tenant");
  return new AppError("not_authenticated", "The API key is not valid");
}

function requireStorableId(principal: Principal): void {
  if (principal.kind === "api_key" && !isUuid(principal.id)) throw badToken();
}

function hasSqlState(error: unknown, sqlState: string): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof DatabaseError) return cause.sqlState === sqlState;
  }
  return false;
}
