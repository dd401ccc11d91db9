import type { JsonList } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { FindingDraft } from "../check.ts";
import { activityOf, isUnidentified, unknownActivity } from "../parsing/activity.ts";
import { fail, unreadable, type Subject } from "./finding_drafts.ts";
import { readBoolean, readNumber, showValue, readList } from "../parsing/fields.ts";
import { sortBy, nameOf } from "../parsing/names.ts";

export interface RuleCriteria {
  readonly judgeRule: (subject: Subject, rule: JsonObject) => FindingDraft;
  /** The words of a finding where no active rule can decide. */
  readonly ifNone: string;
}

export interface RulesVerdict {
  readonly draft: FindingDraft;
  /** The rules that decided, more than one where equal priorities give the same verdict; empty where none did. */
  readonly deciding: JsonList;
  /** The active rules after them, in the order in which they apply. */
  readonly later: JsonList;
}

/** Of a global session policy: the active rule with priority exactly 1 decides, where these priorities start. */
export function judgeByRuleAtPriorityOne(rules: JsonList, subject: Subject, criteria: RuleCriteria): RulesVerdict {
  const isOne = (priority: number) => priority === 1;
  const verdict = judgeFirst(rules, { isFirst: isOne, mayDecide: isOne }, { subject, criteria });
  const drafts = verdict.deciding.map((rule) => criteria.judgeRule(subject, rule));
  // No other rule comes before it, so its FAIL is proven whatever else cannot be read.
  const proven = drafts.every((draft) => draft.status === "FAIL") ? drafts[0] : undefined;
  return proven === undefined ? verdict : { ...verdict, draft: proven };
}

/** Of an access policy: the active rule with the lowest priority, whatever the number; the catch-all may be it. */
export function judgeByFirstRule(rules: JsonList, subject: Subject, criteria: RuleCriteria): RulesVerdict {
  const lowest = rules
    .filter(isKnown)
    .map(priorityOf)
    .reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const order = {
    isFirst: (priority: number) => priority === lowest,
    mayDecide: (priority: number) => priority <= lowest,
  };
  return judgeFirst(rules, order, { subject, criteria });
}

interface Order {
  readonly isFirst: (priority: number) => boolean;
  /** Whether a rule with this priority could decide, whatever its unreadable part holds. */
  readonly mayDecide: (priority: number) => boolean;
}

function judgeFirst(
  rules: JsonList,
  { isFirst, mayDecide }: Order,
  { subject, criteria }: { readonly subject: Subject; readonly criteria: RuleCriteria },
): RulesVerdict {
  const candidates = sortBy(rules, orderText).filter((rule) => activityOf(rule) !== "inactive");
  const deciding = withoutBuiltIn(candidates.filter((rule) => isKnown(rule) && isFirst(priorityOf(rule))));
  const unsure = candidates.filter(
    (rule) => !isKnown(rule) && (isUnidentified(rule) || !hasReadablePriority(rule) || mayDecide(priorityOf(rule))),
  );
  const later = candidates.filter((rule) => isAfter(rule, deciding)).toSorted(byPriority);
  const drafts = [...deciding, ...unsure].map((rule) =>
    isUnidentified(rule) ? unreadable(subject, describeUnreadable(rule)) : criteria.judgeRule(subject, rule),
  );
  return { draft: draftOf(drafts), deciding, later };

  function draftOf([draft, ...others]: readonly FindingDraft[]): FindingDraft {
    if (draft === undefined) return fail(subject, criteria.ifNone);
    // All of them FAIL, and so does a policy in which none decides.
    if ([draft, ...others].every(({ status }) => status === "FAIL")) return draft;
    const [unread] = unsure;
    if (unread !== undefined) return unreadable(subject, describeUnreadable(unread));
    if (others.every((other) => verdictOf(other) === verdictOf(draft))) return draft;
    return unreadable(subject, `${deciding.length} active rules of the same priority`);
  }
}

/**
 * Where the deciding rules are for named users or groups only: the verdict on the rule after them, in words. Null where
 * one of them is for all users.
 */
export function describeNextRule(
  { deciding, later }: RulesVerdict,
  subject: Subject,
  criteria: RuleCriteria,
): string | null {
  const [first] = deciding;
  const [next] = later;
  if (first === undefined || !deciding.every(hasPeopleCondition)) return null;
  const some = `Rule "${nameOf(first)}" is for named users or groups only`;
  if (next === undefined) return `${some}, and no rule of its policy is for the others`;
  const draft = criteria.judgeRule(subject, next);
  const verdict = draft.status === "MANUAL" ? `MANUAL (${draft.reason})` : draft.status;
  return `${some}; for the others the next rule "${nameOf(next)}" decides, which is ${verdict}: ${draft.actual}`;
}

/** Null where it is unknown: `system` is neither true nor false, and the name is no built-in one. */
export function isBuiltIn(rule: JsonObject): boolean | null {
  if (builtInNames.has(rule["name"])) return true;
  const system = readBoolean(rule, "system");
  if (system.kind === "absent") return false;
  return system.kind === "value" ? system.value : null;
}

const builtInNames = new Set<unknown>(["Default Rule", "Catch-all Rule"]);

/** Of several rules with one priority the built-in one comes last. */
function withoutBuiltIn(rules: JsonList): JsonList {
  const custom = rules.filter((rule) => isBuiltIn(rule) !== true);
  return custom.length > 0 ? custom : rules;
}

/** Whether it is certain that the rule applies, and where in the order. */
function isKnown(rule: JsonObject): boolean {
  return activityOf(rule) === "active" && hasReadablePriority(rule);
}

function isAfter(rule: JsonObject, deciding: JsonList): boolean {
  return (
    !isUnidentified(rule) && !deciding.includes(rule) && deciding.every((one) => priorityOf(one) <= priorityOf(rule))
  );
}

function hasReadablePriority(rule: JsonObject): boolean {
  return readNumber(rule, "priority").kind !== "unreadable";
}

function describeUnreadable(rule: JsonObject): string {
  const isOfPriority = !isUnidentified(rule) && !hasReadablePriority(rule);
  return isOfPriority ? `the priority ${showValue(rule["priority"])}` : unknownActivity(rule);
}

function orderText(rule: JsonObject): string {
  return isUnidentified(rule) ? "" : `${nameOf(rule)} ${showValue(rule["id"])}`;
}

/** Missing priorities come last. */
function priorityOf(rule: JsonObject): number {
  const priority = readNumber(rule, "priority");
  return priority.kind === "value" ? priority.value : Number.POSITIVE_INFINITY;
}

function byPriority(one: JsonObject, other: JsonObject): number {
  const [first, second] = [priorityOf(one), priorityOf(other)];
  if (first !== second) return first < second ? -1 : 1;
  return Number(isBuiltIn(one) === true) - Number(isBuiltIn(other) === true);
}

function verdictOf(draft: FindingDraft): string {
  return draft.status === "MANUAL" ? draft.reason : draft.status;
}

const peopleLists = ["users.include", "users.exclude", "groups.include", "groups.exclude"];

/** Whether a rule is limited to named users or groups, so that later rules apply to the others; also where that is unreadable. */
export function hasPeopleCondition(rule: JsonObject): boolean {
  return peopleLists.some((list) => {
    const named = readList(rule, `conditions.people.${list}`);
    return named.kind === "unreadable" || (named.kind === "value" && named.value.length > 0);
  });
}
