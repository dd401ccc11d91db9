import { and, eq, getTableColumns, gte, lt, type SQL, sql } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import { auditEvents } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { newestFirst, timeParameter, type PageRequest, type QueryValues } from "../../http/query.ts";
import { described, text } from "../../../shared/schemas/primitives.ts";
import { toFields } from "../stored_rows.ts";
import { auditEventSchema, type AuditEvent } from "./team_schemas.ts";

/** The audit trail of the transaction's tenant. `audit` writes it; nothing changes or deletes it. */

const filter = text(1, 255);

export const auditQuery = {
  action: described(filter, "Such as `member.created`"),
  actor: described(filter, "A token's `sub` or an API key's id"),
  target: described(filter, "The target: a member's `sub`, or an id"),
  from: timeParameter("From then on"),
  to: timeParameter("Before then"),
};

export type AuditRow = typeof auditEvents.$inferSelect & {
  readonly actorName: string | null;
  readonly targetName: string | null;
};

export function toAuditEvent(row: AuditRow): AuditEvent {
  const actor = { kind: row.actorKind, id: row.actorId, name: row.actorName };
  const target = { type: row.targetType, id: row.targetId, name: row.targetName };
  return toFields(auditEventSchema, { table: auditEvents, row }, { actor, target });
}

/** Selects the events of each tenant that the transaction sees. */
export function selectShownEvents(db: Pick<TenantDatabase, "select">) {
  return db
    .select({
      ...getTableColumns(auditEvents),
      actorName: keyName(auditEvents.actorKind, auditEvents.actorId),
      targetName: keyName(auditEvents.targetType, auditEvents.targetId),
    })
    .from(auditEvents);
}

/** The name of an API key; null for everything else. */
function keyName(kind: AnyPgColumn, id: AnyPgColumn): SQL<string | null> {
  // The look-up itself is left out where there is no key: it would else be made for each event.
  return sql<string | null>`case when ${kind} = 'api_key' then (
    select api_keys.name from api_keys where api_keys.id = ${id}::uuid and api_keys.tenant_id = ${auditEvents.tenantId}) end`;
}

/** Newest first, one row beyond the limit. By time: what is asked of a time is found by it, however much came after. */
export function selectAuditEvents(
  db: TenantDatabase,
  page: PageRequest,
  { action, actor, target, from, to }: QueryValues<typeof auditQuery>,
) {
  const where = and(
    action === null ? undefined : eq(auditEvents.action, action),
    actor === null ? undefined : eq(auditEvents.actorId, actor),
    target === null ? undefined : eq(auditEvents.targetId, target),
    from === null ? undefined : gte(auditEvents.createdAt, from),
    to === null ? undefined : lt(auditEvents.createdAt, to),
  );
  // Numbers decide between events of the same time.
  const by = [auditEvents.createdAt, auditEvents.number] as const;
  return newestFirst(selectShownEvents(db).$dynamic(), page, { by, where });
}
