import type { Revision } from "../catalog/catalog.ts";
import { controlBaselines, controls, controlsOf } from "../catalog/controls.ts";
import type { CheckResult, ControlResult, Report, Status } from "../../shared/report.ts";
import { countStates, stateOf } from "../../shared/rule_result.ts";
import { countOf, outcomeText } from "../../shared/outcome_text.ts";

/** The verdicts of a report by control, for each control of which this scan examined a rule; in the order of NIST's catalog. */
export function controlResults(report: Report, revision: Revision): readonly ControlResult[] {
  const byRule = new Map(report.checks.map((check) => [check.rule_id, check]));
  return controls.flatMap((control) => {
    const rules = revision.checks.filter(({ rule }) => controlsOf(rule).includes(control));
    const checks = rules.map(({ rule }) => byRule.get(rule.rule_id) ?? null);
    const examined = checks.filter((check) => check !== null);
    if (examined.length === 0) return [];
    const names = examined.map(({ check }) => check);
    const appliesNowhere = checks.every((check) => check !== null && stateOf(check) === "not_applicable");
    const reason = appliesNowhere ? ({ reason: "not_applicable" } as const) : {};
    return [{ ...control, status: controlStatus(checks), ...reason, checks: names }];
  });
}

/** A control is met only when every rule of the STIG that names it was examined. */
function controlStatus(checks: readonly (CheckResult | null)[]): Status {
  const states = checks.map((check) => (check === null ? "manual" : stateOf(check)));
  if (states.includes("fail")) return "FAIL";
  return states.includes("manual") || !states.includes("pass") ? "MANUAL" : "PASS";
}

/** V-numbers of the rules of this scan that name a control. */
export function vulnIdsOf({ checks: names }: ControlResult, { checks }: Report): readonly string[] {
  return checks.filter(({ check }) => names.includes(check)).map(({ vuln_id: vulnId }) => vulnId);
}

/** How the controls of each baseline stand, as far as the STIG examines them. */
export function baselineLines(results: readonly ControlResult[]): readonly string[] {
  return controlBaselines.map((baseline) => {
    const examined = results.filter(({ baselines }) => baselines.includes(baseline));
    const counts = countStates(examined);
    return `${countOf(examined.length, "control")} of the ${baseline} baseline: ${outcomeText((state) => counts[state])}`;
  });
}
