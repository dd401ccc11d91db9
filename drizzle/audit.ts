import { getTableColumns, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { TenantDatabase } from "./transactions.ts";

/** A line of the audit trail: what was done to what. */
export interface AuditLine {
  readonly tenantId: string;
  /** The target's type, and what was done. */
  readonly action: `${string}.${string}`;
  readonly targetId: string;
  /** Holds what the row was made with, or each changed column's value before and after. Never a secret. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * Writes lines of the audit trail in the transaction of the changes, so that both are stored or neither. The database says when, and
 * the transaction's caller is who.
 */
export async function audit(
  db: TenantDatabase,
  lines: readonly AuditLine[],
  { by = sql`current_setting('app.actor', true)` } = {},
): Promise<void> {
  if (lines.length === 0) return;
  await db.execute(sql`
    insert into audit_events (tenant_id, actor_kind, actor_id, action, target_type, target_id, detail)
    select "tenantId", coalesce(nullif(split_part(actor, ':', 1), ''), 'gateway'), substr(actor, strpos(actor, ':') + 1),
      action, split_part(action, '.', 1), "targetId", detail
    from (select coalesce(${by}, '') as actor) as caller, jsonb_to_recordset(${JSON.stringify(lines)}::jsonb)
      as line ("tenantId" uuid, action text, "targetId" text, detail jsonb)`);
}

/** A row by the names of its columns. */
export function columnsOf(table: PgTable, row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const columns = Object.entries(getTableColumns(table));
  const own = columns.filter(([property, { name }]) => property in row && name !== "tenant_id");
  return Object.fromEntries(own.map(([property, { name }]) => [name, row[property]]));
}
