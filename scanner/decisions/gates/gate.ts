import type { Report } from "../../../shared/report.ts";
import { applyFailOn, describeNamed, describeUnnamed, optionOf, type FailRule } from "./fail_on.ts";

export interface GateResult {
  readonly isFailed: boolean;
  /** The last line of a run that exits with the code: why, `problem` first, and what is open and did not count. */
  line(exitCode: number, problem?: string): string;
}

/** True if `--fail-on` fails the run. */
export function applyGate(report: Report, rule: FailRule): GateResult {
  const found = applyFailOn(report, rule);
  const named = describeNamed(found, rule);
  const left = describeUnnamed(found);
  return {
    isFailed: found.named.length > 0,
    line(exitCode, problem) {
      const reasons = [problem, named].filter((reason) => reason !== undefined && reason !== null);
      const why = reasons.length === 0 ? "" : `: ${reasons.join("; ")}`;
      const fulfilled = named === null ? ` (${optionOf(rule)})` : "";
      return `Exit ${exitCode}${why}${fulfilled}${left === "" ? "" : `. Not counted: ${left}`}`;
    },
  };
}
