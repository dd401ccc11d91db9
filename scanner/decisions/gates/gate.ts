import type { Report } from "../../../shared/report.ts";
import { applyFailOn, describeNamed, describeUnnamed, optionOf, type FailRule } from "./fail_on.ts";
import { unmetThresholds, type RuleStatus, type Threshold } from "./thresholds.ts";

/** What decides whether a run fails. */
export interface Gate extends FailRule {
  readonly thresholds: readonly Threshold[];
}

export interface GateResult {
  readonly isFailed: boolean;
  /** The last line of a run that exits with the code: why, `problem` first, and what is open and did not count. */
  line(exitCode: number, problem?: string): string;
}

/** `rules`: the outcome of every rule, of which the thresholds speak. */
export function applyGate(report: Report, gate: Gate, rules: readonly RuleStatus[]): GateResult {
  const found = applyFailOn(report, gate);
  const unmet = unmetThresholds(gate.thresholds, rules);
  const isFailed = found.named.length > 0 || unmet.length > 0;
  const named = describeNamed(found, gate);
  const left = describeUnnamed(found);
  const reasonsOf = (problem: string | undefined) => [
    ...(problem === undefined ? [] : [problem]),
    ...(named === null ? [] : [named]),
    ...(unmet.length === 0 ? [] : [`--threshold: ${listFirst(unmet)}`]),
  ];
  const met = [
    ...(named === null ? [optionOf(gate)] : []),
    ...(gate.thresholds.length > 0 && unmet.length === 0 ? ["--threshold is met"] : []),
  ];
  return {
    isFailed,
    line(exitCode, problem) {
      const reasons = reasonsOf(problem);
      const why = reasons.length === 0 ? "" : `: ${reasons.join("; ")}`;
      const fulfilled = met.length === 0 ? "" : ` (${met.join("; ")})`;
      return `Exit ${exitCode}${why}${fulfilled}${left === "" ? "" : `. Not counted: ${left}`}`;
    },
  };
}

const maxListed = 5;

function listFirst(problems: readonly string[]): string {
  const left = problems.length - maxListed;
  return `${problems.slice(0, maxListed).join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}
