import type { JsonList } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { activityOf, unknownActivity } from "./activity.ts";
import { readBoolean, readNumber, readWord, showValue } from "./fields.ts";
import { nameOf, sortBy } from "./names.ts";

export type AccessPath = "actions.signon.access" | "actions.appSignOn.access";

/** Returns what a rule does with those whom it matches; one that does not say lets them in. */
export function accessOf(rule: JsonObject, path: AccessPath): "ALLOW" | "DENY" | "unknown" {
  const access = readWord(rule, path, ["ALLOW", "DENY"]);
  return access.kind === "unreadable" ? "unknown" : (access.value ?? "ALLOW");
}

/** The rules that may be active, in the order in which they apply; those of one stage tie, and a built-in rule loses a tie. */
export function stagesOf(rules: JsonList): readonly JsonList[] {
  const active = rules.filter((rule) => activityOf(rule) !== "inactive" && hasReadablePriority(rule));
  const stages = Map.groupBy(place(active), ({ priority, isLast }) => `${priority} ${isLast}`);
  return [...stages.values()].map((stage) => stage.map(({ rule }) => rule));
}

/** All rules as Okta lists them: in the order in which they apply, unreadable rules last. */
export function inOrder(rules: JsonList): JsonList {
  return place(rules).map(({ rule }) => rule);
}

/** Each rule is read once: a policy may have a hundred thousand. */
function place(rules: JsonList) {
  return sortBy(rules, orderText)
    .map((rule) => ({ rule, priority: priorityOf(rule), isLast: isBuiltIn(rule) === true }))
    .toSorted((one, other) =>
      one.priority === other.priority
        ? Number(one.isLast) - Number(other.isLast)
        : one.priority < other.priority
          ? -1
          : 1,
    );
}

/** Null where it is unknown: `system` is neither true nor false, and the name is not a built-in one. */
export function isBuiltIn(rule: JsonObject): boolean | null {
  if (builtInNames.has(rule["name"])) return true;
  const system = readBoolean(rule, "system");
  return system.kind === "absent" ? false : system.value;
}

const builtInNames = new Set<unknown>(["Default Rule", "Catch-all Rule"]);

export function isSure(rule: JsonObject): boolean {
  return activityOf(rule) === "active";
}

export function hasReadablePriority(rule: JsonObject): boolean {
  return readNumber(rule, "priority").kind !== "unreadable";
}

export function describeUnreadable(rule: JsonObject): string {
  return hasReadablePriority(rule) ? unknownActivity(rule) : `the priority ${showValue(rule["priority"])}`;
}

export function orderText(rule: JsonObject): string {
  return `${nameOf(rule)} ${showValue(rule["id"])}`;
}

/** Missing priorities come last. */
export function priorityOf(rule: JsonObject): number {
  return readNumber(rule, "priority").value ?? Number.POSITIVE_INFINITY;
}
