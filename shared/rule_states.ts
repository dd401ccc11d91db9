import { ruleStates, type RuleState } from "./rule_result.ts";

/** Names of states, for messages. */
export const stateWords = "one or more of pass, fail, manual, not_applicable (or n/a), separated by commas";

/** `fail,n/a` as states, in any case; null for a list that has something else, or nothing. */
export function parseStates(text: string): readonly RuleState[] | null {
  const words = text.split(",").map((word) => word.trim().toLowerCase());
  const states = words.map((word) => (word === "n/a" ? "not_applicable" : ruleStates.find((state) => state === word)));
  return states.every((state) => state !== undefined) ? [...new Set(states)] : null;
}
