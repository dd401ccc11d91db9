import type { JsonList } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { activityOf, unknownActivity } from "./activity.ts";
import { readBoolean, readNumber, readWord, showValue } from "./fields.ts";
import { nameOf, sortBy } from "./names.ts";

export type AccessPath = "actions.signon.access" | "actions.appSignOn.access";

/** Returns what a rule does with those whom it matches; one that does not say lets them in. */
export function accessOf(rule: JsonObject, path: AccessPath): "ALLOW" | "DENY" | "unknown" {
  const access = readWord(rule, path, ["ALLOW", "DENY"]);
  if (access.kind === "unreadable") return "unknown";
  return access.kind === "value" ? access.value : "ALLOW";
}

/** True for a rule that may be active, and whose place can be read. */
export function mayApply(rule: JsonObject): boolean {
  return activityOf(rule) !== "inactive" && hasReadablePriority(rule);
}

/** True where nobody can tell which of two neighbors comes first: they have one priority, of which a built-in rule comes last. */
export function areTied(rule: JsonObject, next: JsonObject | undefined): boolean {
  if (next === undefined || priorityOf(rule) !== priorityOf(next)) return false;
  return (isBuiltIn(rule) === true) === (isBuiltIn(next) === true);
}

/** Rules in the order in which they apply, those without a readable priority last. Each is read once: a policy may have a hundred thousand. */
export function inOrder(rules: JsonList): JsonList {
  const placed = sortBy(rules, (rule) => `${nameOf(rule)} ${showValue(rule["id"])}`).map((rule) => ({
    rule,
    priority: priorityOf(rule),
    isLast: isBuiltIn(rule) === true,
  }));
  const isBefore = (one: number, other: number) => (one < other ? -1 : 1);
  return placed
    .toSorted((one, other) =>
      one.priority === other.priority
        ? Number(one.isLast) - Number(other.isLast)
        : isBefore(one.priority, other.priority),
    )
    .map(({ rule }) => rule);
}

/** Null where it is unknown: `system` is neither true nor false, and the name is no built-in one. */
export function isBuiltIn(rule: JsonObject): boolean | null {
  if (builtInNames.has(rule["name"])) return true;
  const system = readBoolean(rule, "system");
  if (system.kind === "absent") return false;
  return system.kind === "value" ? system.value : null;
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

/** Missing priorities come last. */
export function priorityOf(rule: JsonObject): number {
  const priority = readNumber(rule, "priority");
  return priority.kind === "value" ? priority.value : Number.POSITIVE_INFINITY;
}
