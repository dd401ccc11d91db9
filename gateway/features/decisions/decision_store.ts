import { and, eq, gte, isNull, lte, ne, or, type SQL, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import { audit, columnsOf } from "../../../drizzle/audit.ts";
import { requireRoom } from "../../../drizzle/limits.ts";
import { decisions, findings } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { endOfExpiry, toExpires } from "../../../shared/decisions/expiry.ts";
import { decisionSchema, type Decision, type NewDecision } from "../../../shared/schemas/decision.ts";
import { described } from "../../../shared/schemas/primitives.ts";
import { originOf, webAddress } from "../../../shared/schemas/web_address.ts";
import type { Principal } from "../../auth/principal.ts";
import { checkParameter, choiceParameter, newestFirst, type PageRequest, type QueryValues } from "../../http/query.ts";
import type { RunRow } from "../runs/run.ts";
import { toFields } from "../stored_rows.ts";

/** The decisions of the transaction's tenant. */

export type DecisionRow = typeof decisions.$inferSelect;

export const decisionQuery = {
  active: choiceParameter(["true", "false"], {
    description: "true: active decisions; false: withdrawn, contradicted and expired decisions",
  }),
  kind: choiceParameter(["waiver", "attestation"]),
  check: checkParameter("Decisions about this check"),
  org_url: described(webAddress, "Decisions for this organization, and for all organizations"),
};

/** Newest first, one row beyond the limit. */
export function selectDecisions(
  db: TenantDatabase,
  page: PageRequest,
  { active, kind, check, org_url: orgUrl }: QueryValues<typeof decisionQuery>,
) {
  const where = and(
    active === null ? undefined : active === "true" ? holds : sql`not (${holds})`,
    kind === null ? undefined : eq(decisions.kind, kind),
    check === null ? undefined : eq(decisions.check, check),
    orgUrl === null ? undefined : or(isNull(decisions.orgUrl), eq(decisions.orgUrl, originOf(orgUrl))),
  );
  return newestFirst(db.select().from(decisions).$dynamic(), page, { by: [decisions.createdAt, decisions.id], where });
}

/**
 * `replaced`: the decision that has ended with this one. Rejects with `AppError("conflict")`, which names the decision, where the same was
 * decided and still holds, unless the caller sends it again because the answer was lost. One that has expired gives its place up.
 */
export async function insertDecision(db: TenantDatabase, principal: Principal, decision: NewDecision) {
  const { kind, check, resource = null, status = null, reason, replaces = null } = decision;
  const expires = toExpires(decision.expires);
  const orgUrl = typeof decision.org_url === "string" ? originOf(decision.org_url) : null;
  const isOf = sql`${decisions.orgUrl} is not distinct from ${orgUrl}`;
  const isAlike = and(eq(decisions.kind, kind), eq(decisions.check, check), isOf);
  const isSame = and(isAlike, sql`${decisions.resource} is not distinct from ${resource}`, isNull(decisions.endedAt));
  const isExpired = and(isSame, sql`not (${isUnexpired})`);
  await endDecisions(db, isExpired, { endedAt: sql`${decisions.expiresAt}`, endedReason: "expired" });
  const replaced = replaces === null ? null : await withdrawDecision(db, principal, replaces, isAlike);
  const values = {
    tenantId: principal.tenantId,
    kind,
    check,
    resource,
    status,
    reason,
    authorKind: principal.kind,
    authorId: principal.id,
    authorName: nameOf(principal),
    orgUrl,
    expires,
    expiresAt: expires === null ? null : new Date(endOfExpiry(expires)),
  };
  const isLate = replaced?.isChanged === false;
  const [row] = isLate ? [] : await db.insert(decisions).values(values).onConflictDoNothing().returning();
  if (row !== undefined) {
    await requireRoom(db, row.tenantId, "decisions");
    const { tenantId, id: targetId } = row;
    await audit(db, [{ tenantId, action: "decision.created", targetId, detail: columnsOf(decisions, row) }]);
    return { row, replaced: replaced?.row };
  }
  const [same] = await db.select().from(decisions).where(isSame);
  const isAgain =
    same?.reason === reason && same.status === status && same.expires === expires && same.authorId === principal.id;
  if (isAgain) return { row: same, replaced: undefined };
  if (isLate) throw new AppError("conflict", `The decision ${replaces} to replace has ended`);
  const author = same === undefined ? "" : `, by ${same.authorName}: ${same.id}`;
  throw new AppError("conflict", `The same decision exists already${author}. Name it in replaces, or withdraw it`);
}

/** Withdraws a decision once, even if two callers do at the same time; one that has ended is unchanged. Rejects with `NotFound`, also where it is not as meant. */
export async function withdrawDecision(
  db: TenantDatabase,
  principal: Principal,
  id: string,
  isMeant?: SQL,
): Promise<{ readonly row: DecisionRow; readonly isChanged: boolean }> {
  const isNamed = and(eq(decisions.id, id), isMeant);
  const isInForce = and(isNamed, holds);
  const [changed] = await endDecisions(db, isInForce, { endedReason: "withdrawn", endedBy: nameOf(principal) });
  if (changed !== undefined) return { row: changed, isChanged: true };
  const [row] = await db.select().from(decisions).where(isNamed);
  if (row === undefined)
    throw new NotFound(`No such decision${isMeant ? " of this kind, check and organization" : ""}`);
  return { row, isChanged: false };
}

/**
 * Ends the attestations that the scan contradicts, however it completed: it was registered after them and found a FAIL of their
 * check. Its producer did not ask for that, so the audit trail names the gateway.
 */
export async function endContradicted(
  db: TenantDatabase,
  { id, origin, createdAt }: Pick<RunRow, "id" | "origin" | "createdAt">,
): Promise<void> {
  const isContradicted = and(
    eq(decisions.kind, "attestation"),
    ne(decisions.status, "FAIL"),
    holds,
    lte(decisions.createdAt, createdAt),
    or(isNull(decisions.orgUrl), origin === null ? undefined : eq(decisions.orgUrl, origin)),
    sql`${decisions.check} = any (array(select distinct ${findings.check} from ${findings}
      where ${findings.scanId} = ${id}::uuid and ${findings.status} = 'FAIL' and not ${findings.advisory}))`,
  );
  await endDecisions(db, isContradicted, { endedReason: "contradicted", endedScanId: id }, { by: sql`''` });
}

/** Now, unless another time is given. */
async function endDecisions(
  db: TenantDatabase,
  condition: SQL | undefined,
  end: PgUpdateSetSource<typeof decisions>,
  by?: Parameters<typeof audit>[2],
): Promise<readonly DecisionRow[]> {
  const ended = await db
    .update(decisions)
    .set({ endedAt: sql`now()`, ...end })
    .where(condition)
    .returning();
  const lines = ended.map(({ tenantId, id, endedAt, endedReason, endedBy, endedScanId }) => {
    const columns = columnsOf(decisions, { endedAt, endedReason, endedBy, endedScanId });
    const changes = Object.entries(columns).filter(([, to]) => to !== null);
    const detail = Object.fromEntries(changes.map(([name, to]) => [name, { from: null, to }]));
    return { tenantId, action: "decision.ended", targetId: id, detail } as const;
  });
  await audit(db, lines, by);
  return ended;
}

/** A member is known by the subject of its tokens, a key by the name that people gave it. */
function nameOf({ kind, id }: Principal): SQL<string> {
  return kind === "user" ? sql`${id}::text` : sql`(select name from api_keys where id = ${id}::uuid)`;
}

/** Returns the decision as the API shows it, and as events carry it. */
export function toDecision(row: DecisionRow): Decision {
  const isOver = row.expiresAt !== null && row.expiresAt.getTime() < Date.now();
  return toFields(
    decisionSchema,
    { table: decisions, row },
    {
      decision_id: row.id,
      tenant_id: row.tenantId,
      by: row.authorName,
      by_kind: row.authorKind,
      state: row.endedReason ?? (isOver ? "expired" : "active"),
    },
  );
}

const isUnexpired = sql`(${decisions.expiresAt} is null or ${gte(decisions.expiresAt, sql`now()`)})`;
const holds = sql`(${decisions.endedAt} is null and ${isUnexpired})`;
