import { sql } from "drizzle-orm";
import { AppError, PermissionDenied } from "../../shared/app_error.ts";
import type { Database, Statement } from "../../drizzle/database.ts";
import { DatabaseError } from "../../drizzle/database_error.ts";
import { withTenant, type TenantTransaction } from "../../drizzle/with_tenant.ts";
import { isUuid } from "../../shared/channel_name.ts";
import { badToken } from "./jwt.ts";
import type { Principal } from "./principal.ts";

/**
 * As `withTenant`, for a principal whose authority has to hold as well: the user's membership, or the API key not being
 * revoked. Each statement is checked inside its own transaction, so the check costs no round trip and cannot be stale; work
 * that asks the database nothing is checked all the same.
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
    return await withTenant(database, principal.tenantId, work, { guard: guardOf(principal) });
  } catch (error) {
    // The guard's own error could also be the feature's: asked again, only where something failed already.
    if (hasSqlState(error, guardSqlState) && !(await holds(database, principal))) throw authorityEnded(principal);
    throw error;
  }
}

/** Whether the subjects of open streams still have the authority that they opened them with. */
export interface AuthorityCheck {
  /**
   * Those of the subjects, the very objects, that are still members (`user`) or not revoked (`api_key`). One query for a
   * whole tenant. Rejects when the database does not answer.
   */
  stillAllowed(tenantId: string, subjects: readonly AuthoritySubject[]): Promise<ReadonlySet<AuthoritySubject>>;
}

/** The part of a principal that authority is given to; the rest belongs to one token. */
export type AuthoritySubject = Pick<Principal, "kind" | "id">;

/** Rechecks open streams. Their `exp` is the caller's to watch. */
export function createAuthorityCheck(database: Database): AuthorityCheck {
  return {
    async stillAllowed(tenantId, subjects) {
      const userIds = subjects.filter(({ kind }) => kind === "user").map(({ id }) => id);
      const keyIds = subjects.filter(({ kind, id }) => kind === "api_key" && isUuid(id)).map(({ id }) => id);
      const rows = await withTenant(database, tenantId, (tx) =>
        tx.execute<{ kind: string; id: string }>(sql`
          select 'user' as kind, user_id as id from memberships
          where tenant_id = ${tenantId}::uuid and user_id = any (${sql.param(userIds)}::text[])
          union all
          select 'api_key', id::text from api_keys
          where tenant_id = ${tenantId}::uuid and id = any (${sql.param(keyIds)}::uuid[]) and revoked_at is null`),
      );
      const allowed = new Set(rows.map(({ kind, id }) => `${kind}:${id}`));
      return new Set(subjects.filter(({ kind, id }) => allowed.has(`${kind}:${id}`)));
    },
  };
}

/** Division by zero: the shortest way for plain SQL to fail a transaction on a condition. */
const guardSqlState = "22012";

function guardOf({ kind, tenantId, id }: Principal): Statement {
  const sql =
    kind === "user"
      ? "select 1 / count(*) from memberships where tenant_id = $1::uuid and user_id = $2"
      : "select 1 / count(*) from api_keys where tenant_id = $1::uuid and id = $2::uuid and revoked_at is null";
  return { sql, params: [tenantId, id] };
}

function authorityEnded(principal: Principal): AppError {
  if (principal.kind === "user") return new PermissionDenied("The token's subject is not a member of its tenant");
  return new AppError("not_authenticated", "The API key is not valid");
}

async function holds(database: Database, principal: Principal): Promise<boolean> {
  return (await createAuthorityCheck(database).stillAllowed(principal.tenantId, [principal])).has(principal);
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
