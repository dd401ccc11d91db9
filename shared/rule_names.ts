import { nearestName } from "./nearest_name.ts";
import type { CheckResult } from "./report.ts";
import ruleNames from "./stig_rule_names.json" with { type: "json" };

/** Names that a rule may be called by. The `rule_id` is also accepted without `_rule`, and without the revision. */
export type RuleNames = Pick<CheckResult, "check" | "vuln_id" | "stig_id" | "rule_id">;

/** The rule of a name, in any case, with a note for a person who named another revision of it; null for an unknown name. */
export function findRule<Rule extends RuleNames>(name: string, rules: readonly Rule[]) {
  const wanted = name.trim().toLowerCase();
  const exact = rules.find((rule) => namesOf(rule).some((candidate) => candidate.toLowerCase() === wanted));
  if (exact !== undefined) return { rule: exact, warning: null };
  const [, number, revision] = /^sv-(\d+)(?:r(\d+))?(?:_rule)?$/.exec(wanted) ?? [];
  const rule = number === undefined ? undefined : rules.find(({ vuln_id: id }) => id.toLowerCase() === `v-${number}`);
  if (rule === undefined) return null;
  const isSame = revision === undefined || rule.rule_id.toLowerCase() === `sv-${number}r${revision}_rule`;
  const warning = isSame ? null : `${name.trim()} is another revision of ${rule.vuln_id}: using ${rule.rule_id}`;
  return { rule, warning };
}

/** Message for a name that no rule has, with the nearest one where one is near. */
export function unknownRule(name: string, rules: readonly RuleNames[], otherwise: string): string {
  if (findRule(name, stigRuleNames) !== null)
    return `${JSON.stringify(name)} is no rule of the chosen revision of the STIG`;
  const wanted = name.trim().toLowerCase();
  const names = new Map(rules.flatMap(namesOf).map((candidate) => [candidate.toLowerCase(), candidate]));
  const nearest = nearestName(wanted, [...names.keys()]);
  const advice = nearest === null ? otherwise : `did you mean ${JSON.stringify(names.get(nearest))}?`;
  return `unknown rule ${JSON.stringify(name)}: ${advice}`;
}

function namesOf({ check, vuln_id: vulnId, stig_id: stigId, rule_id: ruleId }: RuleNames): readonly string[] {
  return [check, vulnId, stigId, ruleId];
}

/** The V-number of a check's rule, as people read it, also of `v_299999`, which only another revision has; any other name as it is. */
export function vulnIdOf(check: string): string {
  return stigRuleNames.find((rule) => rule.check === check)?.vuln_id ?? check.replace(/^v_(?=\d+$)/, "V-");
}

/** The check's name for any name of a rule of the STIG; other names stay as they are. */
export function toCheckName(name: string): string {
  return findRule(name, stigRuleNames)?.rule.check ?? name;
}

/** As `toCheckName`, but an id in the form of DISA's that is not in the STIG is a problem. */
export function requireCheckName(name: string): { readonly check: string } | { readonly problem: string } {
  const isDisas = /^(?:s?v-\d|okta-app-)/i.test(name.trim());
  return isDisas && findRule(name, stigRuleNames) === null
    ? { problem: unknownRule(name, stigRuleNames, "expected a rule of the Okta IDaaS STIG") }
    : { check: toCheckName(name) };
}

/** The rules of the STIG, for code that may not import its catalog. `tools/catalog.ts` writes both, and a test compares them. */
export const stigRuleNames: readonly RuleNames[] = ruleNames;
