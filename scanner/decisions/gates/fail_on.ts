import type { CheckResult, Finding, Report, Severity } from "../../../shared/report.ts";

/** What fails a run, as `--fail-on` names it: findings of a verdict, from a severity up. None: never. */
export type FailOn = readonly FailCondition[];

export interface FailCondition {
  readonly status: "FAIL" | "MANUAL";
  readonly leastSeverity: Severity;
}

export interface FailRule {
  readonly failOn: FailOn;
  /** The word of the command line, for messages. */
  readonly failOnText: string;
  /** Only findings that the baseline does not have count. */
  readonly onlyNew: boolean;
}

export const failOnWords = "fail, manual, never, or with a severity and that or worse: fail:high, manual:medium";

/** From the worst. */
const severities: readonly Severity[] = ["high", "medium", "low"];

/** `fail:high,manual` as conditions; null for anything else. `manual` counts FAIL too: what is worse than it. */
export function parseFailOn(text: string): FailOn | null {
  if (text.trim() === "never") return [];
  const conditions = text.split(",").map((word) => parseWord(word.trim()));
  return conditions.includes(null) ? null : conditions.flatMap((condition) => condition ?? []);
}

function parseWord(word: string): FailOn | null {
  const [verdict, severity = "low", ...rest] = word.split(":");
  const leastSeverity = severities.find((candidate) => candidate === severity);
  if (leastSeverity === undefined || rest.length > 0) return null;
  if (verdict === "fail") return [{ status: "FAIL", leastSeverity }];
  if (verdict !== "manual") return null;
  return [
    { status: "FAIL", leastSeverity },
    { status: "MANUAL", leastSeverity },
  ];
}

/** Whether a finding of that verdict and severity fails the run. */
export function isNamed(failOn: FailOn, status: Finding["status"], severity: Severity): boolean {
  return failOn.some(
    (condition) =>
      condition.status === status && severities.indexOf(severity) <= severities.indexOf(condition.leastSeverity),
  );
}

/** How the open findings of a report stand to `--fail-on`. */
export interface FailOnResult {
  /** Each with its check; a check that a person attested as FAIL counts once, without one. */
  readonly named: readonly NamedFinding[];
  /** Open, and not named: too low a severity, the other verdict, or known to the baseline. */
  readonly unnamed: readonly NamedFinding[];
  readonly waived: number;
}

interface NamedFinding {
  readonly check: CheckResult;
  readonly status: "FAIL" | "MANUAL";
}

export function applyFailOn(report: Report, rule: FailRule): FailOnResult {
  const named: NamedFinding[] = [];
  const unnamed: NamedFinding[] = [];
  let waived = 0;
  for (const check of report.checks) {
    // A person who attests a FAIL has found one, unless the scan itself has: then its findings count, as they are waived or known.
    if (check.attestation?.status === "FAIL" && !check.findings.some(isFailing)) {
      (isNamed(rule.failOn, "FAIL", check.severity) ? named : unnamed).push({ check, status: "FAIL" });
      continue;
    }
    for (const finding of check.findings) {
      if (finding.status === "PASS" || finding.advisory) continue;
      if (finding.status === "MANUAL" && check.attestation !== null) continue;
      if (finding.waived) {
        waived += 1;
        continue;
      }
      const counts = isNamed(rule.failOn, finding.status, check.severity) && isCounted(finding, rule);
      (counts ? named : unnamed).push({ check, status: finding.status });
    }
  }
  return { named, unnamed, waived };
}

function isFailing({ status, advisory }: Finding): boolean {
  return status === "FAIL" && !advisory;
}

function isCounted(finding: Finding, { onlyNew }: FailRule): boolean {
  return !onlyNew || finding.change === "new";
}

const maxIds = 5;

/** What `--fail-on` names in the report, and what it leaves out, in one sentence each. */
export function describeFailOn({ named, unnamed, waived }: FailOnResult, rule: FailRule): readonly string[] {
  const option = `--fail-on ${rule.failOnText}${rule.onlyNew ? " --fail-on-new" : ""}`;
  const ids = [...new Set(named.map(({ check }) => check.vuln_id))];
  const more = ids.length > maxIds ? ` and ${ids.length - maxIds} more` : "";
  const found =
    named.length === 0
      ? "names nothing"
      : `names ${named.length} ${named.length === 1 ? "finding" : "findings"} (${ids.slice(0, maxIds).join(", ")}${more})`;
  const left = [
    ...countBySeverity(unnamed, "FAIL", "fail"),
    ...countBySeverity(unnamed, "MANUAL", "for a person"),
    ...(waived === 0 ? [] : [`${waived} waived`]),
  ];
  return [`${option} ${found}`, ...(left.length === 0 ? [] : [`not counted: ${left.join(", ")}`])];
}

function countBySeverity(
  findings: readonly NamedFinding[],
  status: "FAIL" | "MANUAL",
  words: string,
): readonly string[] {
  const ofStatus = findings.filter((finding) => finding.status === status);
  if (ofStatus.length === 0) return [];
  const parts = severities.flatMap((severity) => {
    const count = ofStatus.filter(({ check }) => check.severity === severity).length;
    return count === 0 ? [] : [`${count} ${severity}`];
  });
  return [`${ofStatus.length} ${words} (${parts.join(", ")})`];
}
