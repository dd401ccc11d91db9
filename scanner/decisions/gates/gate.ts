import type { Report } from "../../../shared/report.ts";
import { applyFailOn, describeFailOn, type FailRule } from "./fail_on.ts";
import { unmetThresholds, type RuleStatus, type Threshold } from "./thresholds.ts";

/** What decides whether a run fails. */
export interface Gate extends FailRule {
  readonly thresholds: readonly Threshold[];
}

export interface GateResult {
  readonly isFailed: boolean;
  /** One line for a person: what failed the run, and what is open and did not. */
  readonly line: string;
}

/** `rules`: the outcome of every rule, of which the thresholds speak. */
export function applyGate(report: Report, gate: Gate, rules: readonly RuleStatus[]): GateResult {
  const found = applyFailOn(report, gate);
  const unmet = unmetThresholds(gate.thresholds, rules);
  const isFailed = found.named.length > 0 || unmet.length > 0;
  const [option = "", ...others] = describeFailOn(found, gate);
  const thresholds =
    gate.thresholds.length === 0
      ? []
      : [unmet.length === 0 ? "--threshold is met" : `--threshold: ${listFirst(unmet)}`];
  return { isFailed, line: `${isFailed ? "Failed" : "Passed"}: ${[option, ...thresholds, ...others].join("; ")}` };
}

const maxListed = 5;

function listFirst(problems: readonly string[]): string {
  const left = problems.length - maxListed;
  return `${problems.slice(0, maxListed).join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}
