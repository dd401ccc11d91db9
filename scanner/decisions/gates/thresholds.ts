import { findRule, stigRuleNames } from "../../../shared/rule_names.ts";
import type { Severity } from "../../../shared/report.ts";

/** One bound on the counts of rules by status and severity, as `failed.high.max`; read by `threshold_file.ts`. */
export interface Threshold {
  readonly key: string;
  readonly bound: "min" | "max" | "exactly" | "controls";
  readonly wanted: number | readonly string[];
}

/** One rule with its outcome, as it stands in the heimdall report, of which SAF counts the same. */
export interface RuleStatus {
  readonly rule: { readonly vuln_id: string; readonly severity: Severity };
  readonly disposition: "pass" | "fail" | "not_applicable" | "not_reviewed";
}

/** A line for each threshold that is not met, in the order of the file. */
export function unmetThresholds(thresholds: readonly Threshold[], rules: readonly RuleStatus[]): readonly string[] {
  return thresholds.flatMap((threshold) => {
    const problem = problemOf(threshold, rules);
    return problem === null ? [] : [problem];
  });
}

function problemOf({ key, bound, wanted }: Threshold, rules: readonly RuleStatus[]): string | null {
  const selected = rulesOf(key, rules);
  if (typeof wanted !== "number") {
    const found = selected.map(({ rule }) => rule.vuln_id);
    const named = new Set(wanted.map((name) => findRule(name, stigRuleNames)?.rule.vuln_id ?? name));
    const isSame = found.length === named.size && found.every((id) => named.has(id));
    return isSame ? null : `${key} is [${wanted.join(", ")}], found [${found.join(", ")}]`;
  }
  const found = key.startsWith("compliance.") ? compliance(rules) : selected.length;
  const isMet = bound === "min" ? found >= wanted : bound === "max" ? found <= wanted : found === wanted;
  return isMet ? null : `${key} is ${wanted}, found ${found}`;
}

function rulesOf(key: string, rules: readonly RuleStatus[]): readonly RuleStatus[] {
  const [status, level = "total"] = key.split(".");
  return rules.filter(
    ({ rule, disposition }) => statusNames[disposition] === status && (level === "total" || rule.severity === level),
  );
}

const statusNames: { readonly [Disposition in RuleStatus["disposition"]]: string } = {
  pass: "passed",
  fail: "failed",
  not_reviewed: "skipped",
  not_applicable: "no_impact",
};

/** In percent of the rules that apply, as whole number. */
function compliance(rules: readonly RuleStatus[]): number {
  const applicable = rules.filter(({ disposition }) => disposition !== "not_applicable");
  if (applicable.length === 0) return 0;
  return Math.round((100 * applicable.filter(({ disposition }) => disposition === "pass").length) / applicable.length);
}
