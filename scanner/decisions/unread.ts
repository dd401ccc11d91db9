import { countOf } from "../../shared/outcome_text.ts";
import type { CheckResult, ManualReason, Report } from "../../shared/report.ts";
import { openFindings, stateOf } from "../../shared/rule_result.ts";
import { catalog } from "../catalog/catalog.ts";

const repairable: ReadonlySet<ManualReason | null> = new Set([
  "missing_scope",
  "missing_role",
  "provider_error",
  "unreadable",
  "interrupted",
]);

/** Rules whose evidence the provider shows to a Super Administrator alone: a lesser role is a choice, and no fault. */
const ofSuperAdmin: ReadonlySet<string> = new Set(
  catalog.flatMap(({ rule }) => (rule.role === "super_admin" ? [rule.vuln_id] : [])),
);

/** The rules that have no result for a reason that somebody can repair; a green run would say nothing of them. */
export function unreadRules({ checks, scan }: Report): readonly CheckResult[] {
  return checks.filter((check) => {
    const isByChoice =
      check.reason === "missing_role" && scan.role !== "super_admin" && ofSuperAdmin.has(check.vuln_id);
    return (
      stateOf(check) === "manual" &&
      repairable.has(check.reason) &&
      !isByChoice &&
      openFindings(check).some(({ waived }) => !waived)
    );
  });
}

/** `5 rules have no result (missing_scope: 4, provider_error: 1)`. */
export function unreadText(rules: readonly CheckResult[]): string {
  const reasons = [...Map.groupBy(rules, ({ reason }) => reason)].map(
    ([reason, { length }]) => `${String(reason)}: ${length}`,
  );
  return `${countOf(rules.length, "rule")} ${rules.length === 1 ? "has" : "have"} no result (${reasons.join(", ")})`;
}
