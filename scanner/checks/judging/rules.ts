import type { JsonList } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { FindingDraft } from "../check.ts";
import { activityOf, isNothing, unknownActivity } from "../parsing/activity.ts";
import { fail, unreadable, type Subject } from "./finding_drafts.ts";
import { readBoolean, readNumber, shown, readList } from "../parsing/fields.ts";
import { inOrder, nameOf } from "../parsing/names.ts";

export interface RulesJudge {
  readonly judgeRule: (subject: Subject, rule: JsonObject) => FindingDraft;
  /** What is found where no active rule can decide. */
  readonly none: string;
}

export interface RulesVerdict {
  readonly draft: FindingDraft;
  /** The rules that decided, more than one where equal priorities give the same verdict; empty where none did. */
  readonly deciding: JsonList;
  /** The active rules after them, in the order in which they apply. */
  readonly later: JsonList;
}

/** Of a global session policy: the active rule with priority exactly 1 decides, where these priorities start. */
export function judgeByRuleAtPriorityOne(rules: JsonList, subject: Subject, judge: RulesJudge): RulesVerdict {
  const isOne = (priority: number) => priority === 1;
  const verdict = judgeFirst(rules, { isFirst: isOne, mayDecide: isOne }, { subject, judge });
  const drafts = verdict.deciding.map((rule) => judge.judgeRule(subject, rule));
  // No other rule comes before it, so what it gets wrong is proven whatever else cannot be read.
  const proven = drafts.every((draft) => draft.status === "FAIL") ? drafts[0] : undefined;
  return proven === undefined ? verdict : { ...verdict, draft: proven };
}

/** Of an access policy: the active rule with the lowest priority, whatever the number; the catch-all may be it. */
export function judgeByFirstRule(rules: JsonList, subject: Subject, judge: RulesJudge): RulesVerdict {
  const lowest = rules
    .filter(isKnown)
    .map(priorityOf)
    .reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const order = {
    isFirst: (priority: number) => priority === lowest,
    mayDecide: (priority: number) => priority <= lowest,
  };
  return judgeFirst(rules, order, { subject, judge });
}

interface Order {
  readonly isFirst: (priority: number) => boolean;
  /** Where a rule would decide if what cannot be read of it were as it has to be for that. */
  readonly mayDecide: (priority: number) => boolean;
}

function judgeFirst(
  rules: JsonList,
  { isFirst, mayDecide }: Order,
  { subject, judge }: { readonly subject: Subject; readonly judge: RulesJudge },
): RulesVerdict {
  const candidates = inOrder(rules, orderText).filter((rule) => activityOf(rule) !== "inactive");
  const deciding = withoutBuiltIn(candidates.filter((rule) => isKnown(rule) && isFirst(priorityOf(rule))));
  const unsure = candidates.filter(
    (rule) => !isKnown(rule) && (isNothing(rule) || !hasReadablePriority(rule) || mayDecide(priorityOf(rule))),
  );
  const later = candidates.filter((rule) => isAfter(rule, deciding)).toSorted(byPriority);
  const drafts = [...deciding, ...unsure].map((rule) =>
    isNothing(rule) ? unreadable(subject, whatIsUnread(rule)) : judge.judgeRule(subject, rule),
  );
  return { draft: draftOf(drafts), deciding, later };

  function draftOf([draft, ...others]: readonly FindingDraft[]): FindingDraft {
    if (draft === undefined) return fail(subject, judge.none);
    // Whichever of them decides; and where none does, that is a FAIL too.
    if ([draft, ...others].every(({ status }) => status === "FAIL")) return draft;
    const [unread] = unsure;
    if (unread !== undefined) return unreadable(subject, whatIsUnread(unread));
    if (others.every((other) => verdictOf(other) === verdictOf(draft))) return draft;
    return unreadable(subject, `${deciding.length} active rules of the same priority`);
  }
}

/**
 * What deciding rules for named users or groups leave to the rule after them, and how that one would be judged; null
 * where one of them is for everybody.
 */
export function leftToNextRule({ deciding, later }: RulesVerdict, subject: Subject, judge: RulesJudge): string | null {
  const [first] = deciding;
  const [next] = later;
  if (first === undefined || !deciding.every(isForSomeOnly)) return null;
  const some = `Rule "${nameOf(first)}" is for named users or groups only`;
  if (next === undefined) return `${some}, and no rule of its policy is for the others`;
  const draft = judge.judgeRule(subject, next);
  const verdict = draft.status === "MANUAL" ? `MANUAL (${draft.reason})` : draft.status;
  return `${some}; for the others the next rule "${nameOf(next)}" decides, which is ${verdict}: ${draft.actual}`;
}

/** Null where `system` is neither true nor false and the name does not say it. */
export function isBuiltIn(rule: JsonObject): boolean | null {
  if (builtInNames.has(rule["name"])) return true;
  const system = readBoolean(rule, "system");
  if (system.kind === "absent") return false;
  return system.kind === "value" ? system.value : null;
}

const builtInNames = new Set<unknown>(["Default Rule", "Catch-all Rule"]);

/** Of several with one priority the built-in one comes last: that is what it is there for. */
function withoutBuiltIn(rules: JsonList): JsonList {
  const custom = rules.filter((rule) => isBuiltIn(rule) !== true);
  return custom.length > 0 ? custom : rules;
}

/** Whether it is certain that the rule applies, and where in the order. */
function isKnown(rule: JsonObject): boolean {
  return activityOf(rule) === "active" && hasReadablePriority(rule);
}

function isAfter(rule: JsonObject, deciding: JsonList): boolean {
  return !isNothing(rule) && !deciding.includes(rule) && deciding.every((one) => priorityOf(one) <= priorityOf(rule));
}

function hasReadablePriority(rule: JsonObject): boolean {
  return readNumber(rule, "priority").kind !== "unreadable";
}

function whatIsUnread(rule: JsonObject): string {
  const isOfPriority = !isNothing(rule) && !hasReadablePriority(rule);
  return isOfPriority ? `the priority ${shown(rule["priority"])}` : unknownActivity(rule);
}

function orderText(rule: JsonObject): string {
  return isNothing(rule) ? "" : `${nameOf(rule)} ${shown(rule["id"])}`;
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

const lists = ["users.include", "users.exclude", "groups.include", "groups.exclude"];

/** Whether a rule names users or groups, so that it leaves others to later rules; also where that cannot be read. */
export function isForSomeOnly(rule: JsonObject): boolean {
  return lists.some((list) => {
    const named = readList(rule, `conditions.people.${list}`);
    return named.kind === "unreadable" || (named.kind === "value" && named.value.length > 0);
  });
}
