import type { JsonList, JsonObject } from "../../artifacts.ts";
import { activityOf, type Activity } from "./activity.ts";
import { readBoolean, readNumber, shown, type Field } from "./fields.ts";

/** The rule that decides: absent where no active rule can. */
export type DecidingRule = Field<JsonObject>;

/** Of a global session policy: the active rule with priority exactly 1, where these priorities start. */
export function ruleAtPriorityOne(rules: JsonList): DecidingRule {
  const candidates = rules.filter((rule) => activityOf(rule) !== "inactive");
  const unread = candidates.find((rule) => readNumber(rule, "priority").kind === "unreadable");
  if (unread !== undefined) return { kind: "unreadable", found: `the priority ${shown(unread["priority"])}` };
  return only(candidates.filter((rule) => rule["priority"] === 1));
}

/** Of an access policy: the active rule with the lowest priority, whatever the number; the catch-all may be it. */
export function firstRule(rules: JsonList): DecidingRule {
  const candidates = rules.filter((rule) => activityOf(rule) !== "inactive");
  const unread = candidates.find((rule) => readNumber(rule, "priority").kind === "unreadable");
  if (unread !== undefined) return { kind: "unreadable", found: `the priority ${shown(unread["priority"])}` };
  const lowest = candidates.map(priorityOf).reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const first = candidates.filter((rule) => priorityOf(rule) === lowest);
  // Of two without a priority the built-in one comes last: that is what it is there for.
  const custom = first.filter((rule) => isBuiltIn(rule) !== true);
  return only(custom.length > 0 ? custom : first);
}

/** Null where `system` is neither true nor false and the name does not say it. */
export function isBuiltIn(rule: JsonObject): boolean | null {
  if (builtInNames.has(rule["name"])) return true;
  const system = readBoolean(rule, "system");
  if (system.kind === "absent") return false;
  return system.kind === "value" ? system.value : null;
}

const builtInNames = new Set<unknown>(["Default Rule", "Catch-all Rule"]);

/** Missing priorities come last. */
function priorityOf(rule: JsonObject): number {
  const priority = readNumber(rule, "priority");
  return priority.kind === "value" ? priority.value : Number.POSITIVE_INFINITY;
}

function only(rules: JsonList): DecidingRule {
  const [rule] = rules;
  if (rule === undefined) return { kind: "absent" };
  if (rules.length > 1) return { kind: "unreadable", found: `${rules.length} active rules of the same priority` };
  const activity: Activity = activityOf(rule);
  if (activity === "unknown") return { kind: "unreadable", found: `the status ${shown(rule["status"])}` };
  return { kind: "value", value: rule };
}
