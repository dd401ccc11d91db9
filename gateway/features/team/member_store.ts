import { desc, eq, type SQL, sql } from "drizzle-orm";
import { memberships } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { defaultRole, type Member, type Role } from "../../../shared/schemas/team.ts";
import type { NewMember } from "../../../shared/schemas/team_requests.ts";
import type { Principal } from "../../auth/principal.ts";
import { afterCursor, type PageRequest } from "../../http/paging.ts";

/** The members of the transaction's tenant. */

export type MemberRow = Pick<typeof memberships.$inferSelect, "userId" | "role" | "createdAt">;

export const shownMember = { userId: memberships.userId, role: memberships.role, createdAt: memberships.createdAt };

export function toMember({ userId, role, createdAt }: MemberRow): Member {
  return { sub: userId, role, created_at: createdAt.toISOString() };
}

/** Newest first, one row beyond the limit. */
export function selectMembers(db: TenantDatabase, page: PageRequest) {
  return db
    .select(shownMember)
    .from(memberships)
    .where(afterCursor(page, memberships.createdAt, memberships.userId))
    .orderBy(desc(memberships.createdAt), desc(memberships.userId))
    .limit(page.limit + 1);
}

/** Makes somebody a member. Who is one already gets the role, where one is named; rejects as `updateMember` does. */
export async function putMember(
  db: TenantDatabase,
  principal: Principal,
  { sub, role }: NewMember,
): Promise<{ readonly member: Member; readonly isNew: boolean }> {
  if (role !== undefined) requireOther(principal, { sub, role });
  const { tenantId } = principal;
  const {
    rows: [row],
  } = await db.execute<Changed & { is_new: boolean }>(sql`
    with ${lockedAdmins(tenantId)}, person as (select scanstream.register_user(${sub}) as sub)
    insert into memberships (tenant_id, user_id, role)
    -- Counted here as well: the member's own row is held before the condition below is looked at.
    select ${tenantId}::uuid, sub, ${role ?? defaultRole} from person where (select count(*) from admins) >= 0
    on conflict (tenant_id, user_id) do update set role = ${role === undefined ? sql`memberships.role` : sql`${role}`}
    where ${role === undefined ? sql`true` : leavesAnAdmin({ sub, role })}
    returning role, created_at,
      -- As it was before the statement.
      not exists (select from memberships as old where old.tenant_id = ${tenantId}::uuid and old.user_id = ${sub}) as is_new`);
  if (row === undefined) throw lastAdmin(sub);
  return { member: toChanged(sub, row), isNew: row.is_new };
}

/**
 * Rejects with `NotFound`, and with `AppError("conflict")` for the last admin and for the caller's own role: nobody finds out
 * afterwards that they have locked themselves out.
 */
export async function updateMember(
  db: TenantDatabase,
  principal: Principal,
  { sub, role }: { readonly sub: string; readonly role: Role },
): Promise<Member> {
  requireOther(principal, { sub, role });
  const {
    rows: [row],
  } = await db.execute<Changed>(sql`
    with ${lockedAdmins(principal.tenantId)}
    update memberships set role = ${role} where ${isMember(principal, sub)} and ${leavesAnAdmin({ sub, role })}
    returning role, created_at`);
  if (row !== undefined) return toChanged(sub, row);
  throw await whyUnchanged(db, sub);
}

/** Rejects as `updateMember` does. The member's streams end with the next recheck. */
export async function deleteMember(db: TenantDatabase, principal: Principal, sub: string): Promise<void> {
  requireOther(principal, { sub, role: null });
  const { rows } = await db.execute(sql`
    with ${lockedAdmins(principal.tenantId)}
    delete from memberships where ${isMember(principal, sub)} and ${leavesAnAdmin({ sub, role: null })}
    returning user_id`);
  if (rows.length === 0) throw await whyUnchanged(db, sub);
}

interface Changed extends Record<string, unknown> {
  readonly role: Role;
  readonly created_at: string;
}

function toChanged(sub: string, { role, created_at: createdAt }: Changed): Member {
  return { sub, role, created_at: new Date(createdAt).toISOString() };
}

/**
 * One change of a tenant's members after another: of two that take away each other's role at once, the second waits, and finds
 * what the first has left. The rows are locked too, because that reads them as they are then, not as the statement began.
 */
function lockedAdmins(tenantId: string): SQL {
  return sql`turn as materialized (select pg_advisory_xact_lock(hashtextextended(${tenantId}, 0)) is null as is_none),
    admins as materialized (
      select user_id from memberships, turn
      where tenant_id = ${tenantId}::uuid and role = 'admin' order by user_id for update of memberships)`;
}

function isMember({ tenantId }: Principal, sub: string): SQL {
  return sql`memberships.tenant_id = ${tenantId}::uuid and memberships.user_id = ${sub}`;
}

interface Change {
  readonly sub: string;
  /** Null: the member is removed. */
  readonly role: Role | null;
}

function leavesAnAdmin({ sub, role }: Change): SQL {
  if (role === "admin") return sql`true`;
  // The count comes first: whoever changes a member has waited before holding the member's row.
  return sql`((select count(*) from admins where user_id <> ${sub}) > 0 or memberships.role <> 'admin')`;
}

/** Only an admin gets here: any other role than that is less. */
function requireOther({ kind, id }: Principal, { sub, role }: Change): void {
  if (kind !== "user" || id !== sub || role === "admin") return;
  throw new AppError("conflict", "You cannot change your own role or remove yourself: ask another admin");
}

async function whyUnchanged(db: TenantDatabase, sub: string): Promise<AppError> {
  const [row] = await db.select(shownMember).from(memberships).where(eq(memberships.userId, sub));
  return row === undefined ? new NotFound("No such member") : lastAdmin(sub);
}

function lastAdmin(sub: string): AppError {
  return new AppError(
    "conflict",
    `${JSON.stringify(sub)} is the tenant's last admin: make another member admin first, or use \`scanstream admin user\` at the gateway`,
  );
}
