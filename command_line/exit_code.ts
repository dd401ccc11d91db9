import type { CheckResult, Finding, Report } from "../shared/report.ts";

/** What fails a run: `--fail-on`. */
export type FailOn = "fail" | "manual" | "never";

export interface ExitRule {
  readonly failOn: FailOn;
  /** Only findings that the baseline does not have count. */
  readonly onlyNew: boolean;
}

/** Exit codes of the command line. `usage` also means that a file or stdout that was asked for could not be written. */
export const exitCodes = {
  ok: 0,
  findings: 1,
  usage: 2,
  notAuthenticated: 3,
  bug: 4,
  interrupted: 130,
} as const;

/** True for the codes of a run that went well: nothing failed, or findings did. */
export function isVerdict(code: number): boolean {
  return code === exitCodes.ok || code === exitCodes.findings;
}

/** 0 when there is nothing to fail on, 1 when at least one unwaived finding counts. */
export function exitCodeOf(report: Report, rule: ExitRule): 0 | 1 {
  if (rule.failOn === "never") return exitCodes.ok;
  return report.checks.some((check) => fails(check, rule)) ? exitCodes.findings : exitCodes.ok;
}

function fails(check: CheckResult, rule: ExitRule): boolean {
  // A person who attests a FAIL has found one.
  if (check.attestation?.status === "FAIL") return true;
  return check.findings.some((finding) => !finding.waived && counts(check, finding, rule));
}

function counts(check: CheckResult, finding: Finding, rule: ExitRule): boolean {
  if (finding.advisory || (rule.onlyNew && finding.change !== "new")) return false;
  if (finding.status === "FAIL") return true;
  return finding.status === "MANUAL" && rule.failOn === "manual" && check.attestation === null;
}
