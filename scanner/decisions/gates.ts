import { countOf } from "../../shared/outcome_text.ts";
import type { CheckResult, ManualReason, Report } from "../../shared/report.ts";
import { findingStates, openFindings, stateOf } from "../../shared/rule_result.ts";
import { catalog } from "../catalog/catalog.ts";
import { listSome } from "../checks/parsing/names.ts";
import { isNamed, type FailOn } from "./fail_on.ts";

export interface FailRule {
  readonly failOn: FailOn;
  /** Only findings that the baseline does not have count. */
  readonly onlyNew: boolean;
  /** Rules without a result fail nothing. */
  readonly allowUnread: boolean;
}

export function applyGate(report: Report, rule: FailRule) {
  const open = report.checks.flatMap((check) => openOf(check, rule));
  const { named = [], unnamed = [], waived = [] } = Object.groupBy(open, ({ kind }) => kind);
  const unread = unreadRules(report);
  const unreadPart = unread.length === 0 ? [] : [`${unreadText(unread)}: ${listIds(unread)}`];
  const left = [
    ...countParts(unnamed, byCategory),
    ...(waived.length === 0 ? [] : [`${countOf(waived.length, "finding")} waived`]),
    ...(rule.allowUnread ? unreadPart : []),
  ];
  return {
    /** True for a finding that `--fail-on` names. */
    isFailed: named.length > 0,
    /** How many rules have no result, whether they are allowed to or not. */
    unread: unread.length,
    /** The last line of a run that exits with the code: why, `problem` first, and what is open and did not count. */
    line(exitCode: number, problem?: string): string {
      const failed = `${countParts(named).join(" and ")} (${optionOf(rule)}): ${listIds(named.map(({ check }) => check))}`;
      const reasons = [problem ?? [], named.length === 0 ? [] : failed, rule.allowUnread ? [] : unreadPart].flat();
      const why = reasons.length === 0 ? "" : `: ${reasons.join("; ")}`;
      const options = [named.length === 0 ? optionOf(rule) : "", rule.allowUnread ? "--allow-unread" : ""];
      const fulfilled = options.some(Boolean) ? ` (${options.filter(Boolean).join(", ")})` : "";
      return `Exit ${exitCode}${why}${fulfilled}${left.length === 0 ? "" : `. Not counted: ${left.join(", ")}`}`;
    },
  };
}

type OpenFinding = ReturnType<typeof openOf>[number];

/** The open findings of a check as they stand to `--fail-on`: it does not name too low a severity, the other verdict, or what the baseline has. */
function openOf(check: CheckResult, { failOn, onlyNew }: FailRule) {
  const stateIn = findingStates(check);
  return openFindings(check).map((finding) => {
    const status = stateIn(finding) === "fail" ? ("FAIL" as const) : ("MANUAL" as const);
    const isNamedBy = isNamed(failOn, status, check.severity) && (!onlyNew || finding.change === "new");
    const kind = finding.waived ? ("waived" as const) : isNamedBy ? ("named" as const) : ("unnamed" as const);
    return { check, status, kind };
  });
}

/** `V-273186, V-273187 and 3 more`. */
function listIds(rules: readonly CheckResult[]): string {
  return listSome([...new Set(rules.map(({ vuln_id: id }) => id))]);
}

/** The option as it was typed. */
function optionOf({ failOn, onlyNew }: FailRule): string {
  return `--fail-on ${failOn.text}${onlyNew ? " --fail-on-new" : ""}`;
}

/** `2 findings failed`, `1 finding needs manual review`, each with what `more` says of them. */
function countParts(findings: readonly OpenFinding[], more: typeof byCategory = () => ""): readonly string[] {
  return (["FAIL", "MANUAL"] as const).flatMap((wanted) => {
    const of = findings.filter(({ status }) => status === wanted);
    const verb = wanted === "FAIL" ? "failed" : `${of.length === 1 ? "needs" : "need"} manual review`;
    return of.length === 0 ? [] : [`${countOf(of.length, "finding")} ${verb}${more(of)}`];
  });
}

/** ` (2 CAT I, 6 CAT II)`. */
function byCategory(findings: readonly OpenFinding[]): string {
  const parts = (["I", "II", "III"] as const).flatMap((category) => {
    const count = findings.filter(({ check }) => check.category === category).length;
    return count === 0 ? [] : [`${count} CAT ${category}`];
  });
  return ` (${parts.join(", ")})`;
}

const repairable: ReadonlySet<ManualReason | null> = new Set([
  "missing_scope",
  "missing_role",
  "provider_error",
  "unreadable",
  "interrupted",
]);

/** Rules whose evidence the provider shows to a Super Administrator alone: a lesser role is a choice, and no fault. */
const ofSuperAdmin: ReadonlySet<string> = new Set(
  catalog.flatMap(({ rule }) => (rule.role === "super_admin" ? [rule.vuln_id] : [])),
);

/** The rules that have no result for a reason that somebody can repair; a green run would say nothing of them. */
export function unreadRules({ checks, scan }: Report): readonly CheckResult[] {
  return checks.filter((check) => {
    const { reason, vuln_id: vulnId } = check;
    const isByChoice = reason === "missing_role" && scan.role !== "super_admin" && ofSuperAdmin.has(vulnId);
    const isUnread = stateOf(check) === "manual" && repairable.has(reason) && !isByChoice;
    return isUnread && openFindings(check).some(({ waived }) => !waived);
  });
}

/** `5 rules have no result (missing_scope: 4, provider_error: 1)`. */
export function unreadText(rules: readonly CheckResult[]): string {
  const reasons = [...Map.groupBy(rules, ({ reason }) => reason)].map(([reason, { length }]) => `${reason}: ${length}`);
  return `${countOf(rules.length, "rule")} ${rules.length === 1 ? "has" : "have"} no result (${reasons.join(", ")})`;
}
