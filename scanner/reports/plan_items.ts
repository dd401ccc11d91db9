import type { CheckResult, Finding, Plan, Report } from "../../shared/report.ts";
import type { Revision } from "../catalog/catalog.ts";
import { controlsOf, type Control } from "../catalog/controls.ts";
import { ruleOf } from "./benchmark_rules.ts";

/** One weakness of a plan of action: a finding that fails and that nobody accepted. */
export interface PlanItem {
  readonly check: CheckResult;
  readonly finding: Finding;
  /** Null: none was made. */
  readonly plan: Plan | null;
  readonly controls: readonly Control[];
  readonly ccis: readonly string[];
  /** ISO 8601. */
  readonly detectedFirst: string;
}

/** In the order of the report. */
export function planItems(report: Report, revision: Revision): readonly PlanItem[] {
  return report.checks.flatMap((check) => {
    const rule = ruleOf(check, revision);
    return failuresOf(check).map((finding) => ({
      check,
      finding,
      plan: finding.plan ?? null,
      controls: controlsOf(rule),
      ccis: rule.ccis,
      detectedFirst: finding.detected_first ?? report.scan.ended_at,
    }));
  });
}

/** The failures of a check that no waiver covers; where only a person found one, its first finding stands for it. */
function failuresOf({ status, attestation, findings }: CheckResult): readonly Finding[] {
  const open = findings.filter((finding) => !finding.waived);
  if (status === "FAIL") return open.filter((finding) => finding.status === "FAIL");
  return attestation?.status === "FAIL" ? open.slice(0, 1) : [];
}

/** The weaknesses that are past the date by which they were planned to be remediated. */
export function overdueItems(report: Report): readonly Pick<PlanItem, "check" | "finding">[] {
  return report.checks.flatMap((check) =>
    failuresOf(check)
      .filter(({ plan }) => plan?.overdue === true)
      .map((finding) => ({ check, finding })),
  );
}
