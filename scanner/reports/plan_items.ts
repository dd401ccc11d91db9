import type { CheckResult, Finding, Plan, Report } from "../../shared/report.ts";
import type { Revision } from "../catalog/catalog.ts";
import { controlsOf, type Control } from "../catalog/controls.ts";
import { ruleOf } from "./benchmark_rules.ts";
import { failuresOf } from "./result_text.ts";

/** One weakness of a plan of action: the findings of a rule that fail, that nobody accepted and that have one plan. */
export interface PlanItem {
  readonly check: CheckResult;
  /** At least one. */
  readonly findings: readonly [Finding, ...(readonly Finding[])];
  readonly description: string;
  /** Null: none was made. */
  readonly plan: Plan | null;
  readonly controls: readonly Control[];
  readonly ccis: readonly string[];
  /** ISO 8601, of the finding that was there first. */
  readonly detectedFirst: string;
}

/** In the order of the report; `isPerFinding` makes an item of each finding. */
export function planItems(report: Report, revision: Revision, isPerFinding = false): readonly PlanItem[] {
  return report.checks.flatMap((check) => {
    const rule = ruleOf(check, revision);
    const failures = openFailuresOf(check);
    const groups = isPerFinding
      ? failures.map((finding) => [finding])
      : Map.groupBy(failures, ({ plan }) => JSON.stringify(plan ?? null)).values();
    return [...groups].flatMap(([first, ...others]) => {
      if (first === undefined) return [];
      const findings = [first, ...others] as const;
      return {
        check,
        findings,
        description: descriptionOf(findings),
        plan: first.plan ?? null,
        controls: rule === undefined ? [] : controlsOf(rule),
        ccis: rule?.ccis ?? [],
        detectedFirst: earliest(findings.map((finding) => finding.detected_first ?? report.scan.ended_at)),
      };
    });
  });
}

function descriptionOf(findings: PlanItem["findings"]): string {
  const [{ detail }] = findings;
  return findings.length === 1 ? detail : `${findings.length} resources fail. The first: ${detail}`;
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
