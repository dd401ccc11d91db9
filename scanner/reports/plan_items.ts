import type { CheckResult, Finding, Report } from "../../shared/report.ts";
import type { Revision } from "../catalog/catalog.ts";
import { controlsOf } from "../catalog/controls.ts";
import { ruleOf } from "./benchmark_rules.ts";
import { failuresOf } from "./result_text.ts";

export type PlanItem = ReturnType<typeof planItems>[number];

/**
 * The weaknesses of a plan of action in the order of the report: the findings of a rule that fail, that nobody accepted and that have one
 * plan; `isPerFinding` makes an item of each finding. `detectedFirst` is of the finding that was there first.
 */
export function planItems(report: Report, revision: Revision, isPerFinding = false) {
  return report.checks.flatMap((check) => {
    const rule = ruleOf(check, revision);
    const failures = openFailuresOf(check);
    const groups = isPerFinding
      ? failures.map((finding) => [finding])
      : Map.groupBy(failures, ({ plan }) => JSON.stringify(plan ?? null)).values();
    return [...groups].flatMap(([first, ...others]) => {
      if (first === undefined) return [];
      const findings = [first, ...others];
      const resources = others.length === 0 ? "" : `${findings.length} resources fail. The first: `;
      return {
        check,
        findings,
        description: `${resources}${first.detail}`,
        plan: first.plan ?? null,
        controls: rule === undefined ? [] : controlsOf(rule),
        ccis: rule?.ccis ?? [],
        detectedFirst: earliest(findings.map((finding) => finding.detected_first ?? report.scan.ended_at)),
      };
    });
  });
}

/** Times may have different offsets. */
function earliest(times: readonly string[]): string {
  return times.reduce((first, time) => (Date.parse(time) < Date.parse(first) ? time : first));
}

/** The failures of a check that no waiver covers. */
function openFailuresOf(check: CheckResult): readonly Finding[] {
  return failuresOf({ ...check, findings: check.findings.filter(({ waived }) => !waived) });
}

/** The findings that are past the date by which they were planned to be remediated. */
export function overdueItems(report: Report): readonly { readonly check: CheckResult; readonly finding: Finding }[] {
  return report.checks.flatMap((check) =>
    openFailuresOf(check)
      .filter(({ plan }) => plan?.overdue === true)
      .map((finding) => ({ check, finding })),
  );
}
