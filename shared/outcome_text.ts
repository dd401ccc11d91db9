import type { RuleState } from "./rule_result.ts";

/** `12 PASS, 17 FAIL, 7 MANUAL, 1 N/A`: the counts of rules as people read them, each as `show` gives it. */
export function outcomeText(show: (state: RuleState) => string | number): string {
  return `${show("pass")} PASS, ${show("fail")} FAIL, ${show("manual")} MANUAL, ${show("not_applicable")} N/A`;
}

/** `1 finding`, `2 findings`. */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
