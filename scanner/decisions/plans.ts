import type { CheckResult, Finding, Plan } from "../../shared/report.ts";
import { isExpired } from "../../shared/decisions/expiry.ts";
import {
  createBudget,
  createResourceIndex,
  findDecision,
  type ResourceDecision,
} from "../../shared/decisions/resource_index.ts";

/** An entry of the decision file, which is a plan where it has a remediation date. */
export interface PlanEntry extends ResourceDecision, Partial<Pick<Plan, "remediation_date" | "milestones">> {
  readonly reason: string;
}

/** The results with the plan of each finding that fails; a plan changes no status, waives nothing and never ends. */
export function applyPlans(
  results: readonly CheckResult[],
  entries: readonly PlanEntry[],
  nowMs: number,
): readonly CheckResult[] {
  const byCheck = Map.groupBy(
    entries.filter((entry) => entry.remediation_date !== undefined),
    (entry) => entry.check,
  );
  const budget = createBudget();
  return results.map((result) => {
    const candidates = byCheck.get(result.check);
    if (candidates === undefined) return result;
    const index = createResourceIndex(candidates);
    const isAttestedFail = result.attestation?.status === "FAIL";
    const findings = result.findings.map((finding) => {
      if (finding.status === "PASS" || (finding.status === "MANUAL" && !isAttestedFail)) return finding;
      return withPlan(finding, findDecision(finding.resource, index, budget), nowMs);
    });
    return { ...result, findings };
  });
}

function withPlan(finding: Finding, entry: PlanEntry | undefined, nowMs: number): Finding {
  if (entry?.remediation_date === undefined) return finding;
  const { remediation_date, milestones = [], reason } = entry;
  const overdue = !finding.waived && isExpired(remediation_date, nowMs);
  return { ...finding, plan: { remediation_date, milestones, reason, overdue } };
}
