import { decisions } from "../../../drizzle/schema.ts";
import { decisionSchema, type Decision } from "../../../shared/schemas/decision.ts";
import { toFields } from "../stored_fields.ts";

export type DecisionRow = typeof decisions.$inferSelect;

/** As the API shows it, and as events carry it. */
export function toDecision(row: DecisionRow, nowMs: number): Decision {
  const isOver = row.expiresAt !== null && row.expiresAt.getTime() < nowMs;
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
