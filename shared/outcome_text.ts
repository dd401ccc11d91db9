import type { RuleState } from "./rule_result.ts";

/** `12 passed, 17 failed, 7 need manual review, 1 N/A`: the counts of rules as people read them, each as `show` gives it. */
export function outcomeText(show: (state: RuleState) => string | number): string {
  const manual = String(show("manual"));
  return [
    `${show("pass")} passed`,
    `${show("fail")} failed`,
    `${manual} ${manual === "1" ? "needs" : "need"} manual review`,
    `${show("not_applicable")} N/A`,
  ].join(", ");
}

/** `1 finding`, `2 findings`. */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
