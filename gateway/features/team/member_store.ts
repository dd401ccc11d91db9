import { and, eq, type SQL } from "drizzle-orm";
import { memberships } from "../../../drizzle/schema.ts";
import { audit, columnsOf } from "../../../drizzle/audit.ts";
import { lockTenant, requireRoom } from "../../../drizzle/limits.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import type { Member, Role } from "../../../shared/schemas/team.ts";
import { defaultRole, type NewMember } from "./team_schemas.ts";
import type { Principal } from "../../auth/principal.ts";
import { newestFirst, type PageRequest } from "../../http/query.ts";

/** The members of the transaction's tenant. */

export type MemberRow = Pick<typeof memberships.$inferSelect, "userId" | "role" | "createdAt">;

export const shownMember = { userId: memberships.userId, role: memberships.role, createdAt: memberships.createdAt };

export function toMember({ userId, role, createdAt }: MemberRow): Member {
  return { sub: userId, role, created_at: createdAt.toISOString() };
}

/** Newest first, one row beyond the limit. */
export function selectMembers(db: TenantDatabase, page: PageRequest) {
  const by = [memberships.createdAt, memberships.userId] as const;
  return newestFirst(db.select(shownMember).from(memberships).$dynamic(), page, { by });
}

/** A caller; or the operator, who may leave a tenant without an admin, and with more members and keys than others may add. */
export type TeamActor = Principal | { readonly kind: "operator"; readonly tenantId: string };

interface GivenRole extends Pick<NewMember, "sub"> {
  readonly role?: Role | undefined;
}

/** Makes somebody a member. Who is one already gets the role, where one is named; rejects as `updateMember` does. */
export async function putMember(
  db: TenantDatabase,
  actor: TeamActor,
  { sub, role }: GivenRole,
): Promise<{ readonly member: Member; readonly isNew: boolean }> {
  const { kind, tenantId } = actor;
  if (role !== undefined) await requireAnAdmin(db, actor, { sub, role });
  const [added] = await db
    .insert(memberships)
    .values({ tenantId, userId: sub, role: role ?? defaultRole })
    .onConflictDoNothing()
    .returning(shownMember);
  if (added === undefined) return { member: await changeRole(db, tenantId, { sub, role }), isNew: false };
  if (kind !== "operator") await requireRoom(db, tenantId, "memberships");
  await audit(db, [{ tenantId, action: "member.created", targetId: sub, detail: columnsOf(memberships, added) }]);
  return { member: toMember(added), isNew: true };
}

/**
 * Rejects with `NotFound`, and with `AppError("conflict")` for the last admin and for the caller's own role: nobody finds out
 * afterwards that they have locked themselves out.
 */
export async function updateMember(
  db: TenantDatabase,
  actor: TeamActor,
  change: { readonly sub: string; readonly role: Role },
): Promise<Member> {
  await requireAnAdmin(db, actor, change);
  return changeRole(db, actor.tenantId, change);
}

async function changeRole(db: TenantDatabase, tenantId: string, { sub, role }: GivenRole): Promise<Member> {
  const isMember = isMemberOf(tenantId, sub);
  const [before] = await db.select(shownMember).from(memberships).where(isMember).for("update");
  if (before === undefined) throw new NotFound("No such member");
  if (role === undefined || role === before.role) return toMember(before);
  await db.update(memberships).set({ role }).where(isMember);
  const detail = { role: { from: before.role, to: role } };
  await audit(db, [{ tenantId, action: "member.updated", targetId: sub, detail }]);
  return toMember({ ...before, role });
}

/** Rejects as `updateMember` does. The member's streams end with the next recheck. */
export async function deleteMember(db: TenantDatabase, actor: TeamActor, sub: string): Promise<void> {
  const { tenantId } = actor;
  await requireAnAdmin(db, actor, { sub, role: null });
  const [row] = await db.delete(memberships).where(isMemberOf(tenantId, sub)).returning(shownMember);
  if (row === undefined) throw new NotFound("No such member");
  await audit(db, [{ tenantId, action: "member.deleted", targetId: sub, detail: columnsOf(memberships, row) }]);
}

function isMemberOf(tenantId: string, sub: string): SQL | undefined {
  return and(eq(memberships.tenantId, tenantId), eq(memberships.userId, sub));
}

/**
 * Refuses a change after which the tenant has no admin. Changes of a tenant's members wait for one another here: of two that take
 * away each other's role at once, the second finds what the first has left. The rows are locked against the operator, too. Null: the
 * member is removed.
 */
async function requireAnAdmin(
  db: TenantDatabase,
  actor: TeamActor,
  change: { readonly sub: string; readonly role: Role | null },
): Promise<void> {
  if (actor.kind === "operator") return;
  // Only an admin gets here: any other role than that is less.
  if (actor.kind === "user" && actor.id === change.sub && change.role !== "admin") {
    throw new AppError("conflict", "You cannot change your own role or remove yourself: ask another admin");
  }
  await lockTenant(db, actor.tenantId);
  const { userId, role } = memberships;
  const admins = await db.select({ userId }).from(memberships).where(eq(role, "admin")).orderBy(userId).for("update");
  const isLast = admins.length === 1 && admins[0]?.userId === change.sub;
  if (!isLast || change.role === "admin") return;
  throw new AppError(
    "conflict",
    `${JSON.stringify(change.sub)} is the tenant's last admin: make another member admin first, or use \`scanstream admin user\` at the gateway`,
  );
}
