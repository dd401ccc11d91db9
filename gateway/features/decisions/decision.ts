import type { decisions } from "../../../drizzle/schema.ts";
import type { Decision } from "../../../shared/schemas/decision.ts";

export type DecisionRow = typeof decisions.$inferSelect;

/** As the API shows it, and as events carry it. */
export function toDecision(row: DecisionRow, nowMs: number): Decision {
  const isOver = row.expiresAt !== null && row.expiresAt.getTime() < nowMs;
  return {
    id: row.id,
    decision_id: row.id,
    tenant_id: row.tenantId,
    kind: row.kind,
    check: row.check,
    resource: row.resource,
    status: row.status,
    reason: row.reason,
    by: row.authorName,
    by_kind: row.authorKind,
    expires: row.expires,
    org_url: row.orgUrl,
    state: row.endedReason ?? (isOver ? "expired" : "active"),
    created_at: row.createdAt.toISOString(),
    ended_at: row.endedAt?.toISOString() ?? null,
    ended_by: row.endedBy,
    ended_scan_id: row.endedScanId,
  };
}
