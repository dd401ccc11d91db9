import type { Check } from "../checks/check.ts";
import { allChecks } from "../checks/all_checks.ts";
import type { Category, Severity } from "../../shared/report.ts";
import texts from "./explanations.json" with { type: "json" };
import stig from "./okta_idaas_stig.json" with { type: "json" };

/** One rule of DISA's STIG, in DISA's words, with what the check of it needs. */
export interface StigRule {
  readonly check: string;
  /** `V-273186`. */
  readonly vuln_id: string;
  /** `SV-273186r1098825_rule`. */
  readonly rule_id: string;
  /** `OKTA-APP-000020`. */
  readonly stig_id: string;
  readonly severity: Severity;
  readonly category: Category;
  readonly title: string;
  readonly group_title: string;
  readonly satisfies: readonly string[];
  readonly ccis: readonly string[];
  readonly nist_800_53_r5: readonly string[];
  /** Without their prefix: `policies.read`. */
  readonly scopes: readonly string[];
  /** The least role that gives a verdict. */
  readonly role: "read_only_admin" | "super_admin";
  readonly discussion: string;
  readonly check_text: string;
  readonly fix_text: string;
}

/** DISA's benchmark without its rules. */
export interface Benchmark {
  /** Name in reports: `okta-idaas-stig-v1r2`. */
  readonly id: string;
  readonly benchmark_id: string;
  readonly title: string;
  readonly version: string;
  readonly release_info: string;
  readonly target_key: string;
}

/** Texts of a check that `explain` and the documents print in addition to DISA's own. They are the same for every revision. */
export interface Explanation {
  readonly examines: string;
  readonly why: string;
  /** DISA's sentence that decides, word for word in its check text. */
  readonly disa: string;
  /** The needs of a PASS, the cases that are MANUAL, what no PASS covers, and what a person verifies; Markdown, a sentence or more each. */
  readonly rests_on: readonly string[];
  /** Steps in the provider's console. */
  readonly fix: readonly string[];
}

export interface CatalogCheck extends Check {
  readonly rule: StigRule;
  readonly explanation: Explanation;
  /** Why nothing judges the rule; absent: the check was written for exactly this text. */
  readonly unjudged?: Unjudged;
}

/** A rule of another revision that is for a person. */
export interface Unjudged {
  readonly reason: "rule_changed" | "not_automated";
  /** The rule as the check knows it; null: there is no check. */
  readonly writtenFor: StigRule | null;
}

/** The fields of a rule that every result of its check repeats. */
export function ruleFields({ name, rule }: CatalogCheck) {
  const { vuln_id, stig_id, rule_id, severity, category, title } = rule;
  return { check: name, vuln_id, stig_id, rule_id, severity, category, title };
}

/** A revision of the STIG: DISA's benchmark, and its checks in the order of the file. */
export interface Revision {
  readonly benchmark: Benchmark;
  readonly checks: readonly CatalogCheck[];
}

/** A revision as the file of a catalog holds it. */
export interface BenchmarkFile extends Benchmark {
  readonly rules: readonly StigRule[];
}

const { rules, ...benchmark } = stig as BenchmarkFile;
const explanations: Readonly<Record<string, Explanation>> = texts;

/** The revision that scanstream was written for, by which it judges unless another one is chosen (`--benchmark`). */
export const builtIn: Revision = { benchmark, checks: rules.map(withRule) };

/** Its checks, in the order of the STIG. */
export const catalog: readonly CatalogCheck[] = builtIn.checks;

/** `V1R2`. */
export function revisionName({ version, release_info: release }: Pick<Benchmark, "version" | "release_info">): string {
  return `V${/\d+/.exec(version)?.[0] ?? "?"}R${/(?<=Release:\s*)\d+/.exec(release)?.[0] ?? "?"}`;
}

function withRule(rule: StigRule): CatalogCheck {
  const check = allChecks.find((candidate) => candidate.name === rule.check);
  const explanation = explanations[rule.check];
  if (check === undefined) throw new Error(`No check is named "${rule.check}", as ${rule.vuln_id} of the catalog says`);
  if (explanation === undefined) throw new Error(`explanations.json has no "${rule.check}" of ${rule.vuln_id}`);
  return { ...check, rule, explanation };
}
