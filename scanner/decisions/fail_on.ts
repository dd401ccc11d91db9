import { countOf } from "../../shared/outcome_text.ts";
import type { CheckResult, Finding, Report, Severity } from "../../shared/report.ts";
import { openFindings } from "../../shared/rule_result.ts";
import { parseSeverity, severities } from "../../shared/severity.ts";
import { unreadRules, unreadText } from "./unread.ts";

/** Conditions that fail a run, as `--fail-on` names them: findings of a verdict, from a severity up. None: never. */
export type FailOn = readonly FailCondition[];

interface FailCondition {
  readonly status: "FAIL" | "MANUAL";
  readonly leastSeverity: Severity;
}

export interface FailRule {
  readonly failOn: FailOn;
  /** The word of the command line, for messages. */
  readonly failOnText: string;
  /** Only findings that the baseline does not have count. */
  readonly onlyNew: boolean;
  /** Rules without a result fail nothing. */
  readonly allowUnread: boolean;
}

/** Why the text of `--fail-on` is refused, and what is expected. */
export function failOnProblem(text: string): string {
  const alone = text
    .split(",")
    .find((word) => parseSeverity(word) !== null)
    ?.trim();
  const given = JSON.stringify(text);
  return alone === undefined
    ? `${given}: expected fail, manual or never, optionally with a minimum severity: fail:high, fail:cat1`
    : `${given}: a severity needs a status: expected fail:${alone} or manual:${alone}`;
}

/** `fail:high,manual` as conditions; null for anything else. `manual` counts FAIL too: what is worse than it. */
export function parseFailOn(text: string): FailOn | null {
  if (text.trim() === "never") return [];
  const conditions = text.split(",").map((word) => parseWord(word.trim()));
  return conditions.includes(null) ? null : conditions.flatMap((condition) => condition ?? []);
}

function parseWord(word: string): FailOn | null {
  const [verdict, severity = "low", ...rest] = word.split(":");
  const leastSeverity = parseSeverity(severity);
  if (leastSeverity === null || rest.length > 0) return null;
  if (verdict === "fail") return [{ status: "FAIL", leastSeverity }];
  if (verdict !== "manual") return null;
  return [
    { status: "FAIL", leastSeverity },
    { status: "MANUAL", leastSeverity },
  ];
}

/** True when a finding of that verdict and severity fails the run. */
export function isNamed(failOn: FailOn, status: Finding["status"], severity: Severity): boolean {
  return failOn.some(
    (condition) =>
      condition.status === status && severities.indexOf(severity) <= severities.indexOf(condition.leastSeverity),
  );
}

export interface GateResult {
  /** A finding that `--fail-on` names. */
  readonly isFailed: boolean;
  /** How many rules have no result, whether they are allowed to or not. */
  readonly unread: number;
  /** The last line of a run that exits with the code: why, `problem` first, and what is open and did not count. */
  line(exitCode: number, problem?: string): string;
}

export function applyGate(report: Report, rule: FailRule): GateResult {
  const found = applyFailOn(report, rule);
  const named = describeNamed(found, rule);
  const unread = unreadRules(report);
  const unreadPart = unread.length === 0 ? [] : [unreadText(unread)];
  const left = [describeUnnamed(found), ...(rule.allowUnread ? unreadPart : [])].filter((text) => text !== "");
  return {
    isFailed: found.named.length > 0,
    unread: unread.length,
    line(exitCode, problem) {
      const reasons = [problem, named, ...(rule.allowUnread ? [] : unreadPart)].filter(
        (reason) => reason !== undefined && reason !== null,
      );
      const why = reasons.length === 0 ? "" : `: ${reasons.join("; ")}`;
      const options = [...(named === null ? [optionOf(rule)] : []), ...(rule.allowUnread ? ["--allow-unread"] : [])];
      const fulfilled = options.length === 0 ? "" : ` (${options.join(", ")})`;
      return `Exit ${exitCode}${why}${fulfilled}${left.length === 0 ? "" : `. Not counted: ${left.join(", ")}`}`;
    },
  };
}

/** How the open findings of a report stand to `--fail-on`. */
interface FailOnResult {
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

function applyFailOn(report: Report, rule: FailRule): FailOnResult {
  const named: NamedFinding[] = [];
  const unnamed: NamedFinding[] = [];
  let waived = 0;
  for (const check of report.checks) {
    // A person who attests a FAIL has found one, unless the scan itself has: then its findings count, as they are waived or known.
    if (check.attestation?.status === "FAIL" && !check.findings.some(isFailing)) {
      (isNamed(rule.failOn, "FAIL", check.severity) ? named : unnamed).push({ check, status: "FAIL" });
      continue;
    }
    for (const finding of openFindings(check)) {
      const status = finding.status === "FAIL" ? "FAIL" : "MANUAL";
      if (finding.waived) {
        waived += 1;
        continue;
      }
      const counts = isNamed(rule.failOn, status, check.severity) && isCounted(finding, rule);
      (counts ? named : unnamed).push({ check, status });
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

/** Reason why the run fails, in one sentence without its end; null: nothing does. */
function describeNamed({ named }: FailOnResult, rule: FailRule): string | null {
  if (named.length === 0) return null;
  const ids = [...new Set(named.map(({ check }) => check.vuln_id))];
  const more = ids.length > maxIds ? ` and ${ids.length - maxIds} more rules` : "";
  const counts = [
    ...(countStatus(named, "FAIL") === 0 ? [] : [`${countOf(countStatus(named, "FAIL"), "finding")} failed`]),
    ...needReview(countStatus(named, "MANUAL")),
  ];
  return `${counts.join(" and ")} (${optionOf(rule)}): ${ids.slice(0, maxIds).join(", ")}${more}`;
}

/** The option as it was typed. */
function optionOf({ failOnText, onlyNew }: FailRule): string {
  return `--fail-on ${failOnText}${onlyNew ? " --fail-on-new" : ""}`;
}

/** Findings that are open and fail nothing, by category; empty when there is nothing. */
function describeUnnamed({ unnamed, waived }: FailOnResult): string {
  const failed = countStatus(unnamed, "FAIL");
  return [
    ...(failed === 0 ? [] : [`${countOf(failed, "finding")} failed${byCategory(unnamed, "FAIL")}`]),
    ...needReview(countStatus(unnamed, "MANUAL")).map((text) => `${text}${byCategory(unnamed, "MANUAL")}`),
    ...(waived === 0 ? [] : [`${countOf(waived, "finding")} waived`]),
  ].join(", ");
}

function needReview(count: number): readonly string[] {
  return count === 0 ? [] : [`${countOf(count, "finding")} ${count === 1 ? "needs" : "need"} manual review`];
}

function countStatus(findings: readonly NamedFinding[], status: NamedFinding["status"]): number {
  return findings.filter((finding) => finding.status === status).length;
}

/** ` (2 CAT I, 6 CAT II)`. */
function byCategory(findings: readonly NamedFinding[], status: NamedFinding["status"]): string {
  const parts = (["I", "II", "III"] as const).flatMap((category) => {
    const count = findings.filter((finding) => finding.status === status && finding.check.category === category).length;
    return count === 0 ? [] : [`${count} CAT ${category}`];
  });
  return ` (${parts.join(", ")})`;
}
