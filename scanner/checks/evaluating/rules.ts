import type { Evidence, JsonList } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { activityOf } from "../parsing/activity.ts";
import { withCause, withNote, withPartialCoverage, type Subject, type FindingDraft } from "./finding_drafts.ts";
import { readWord, showValue } from "../parsing/fields.ts";
import { memoize } from "./memoize.ts";
import { sortBy, nameOf } from "../parsing/names.ts";
import {
  everyoneIn,
  missingEveryone,
  restrictionsOf,
  accessOf,
  describeUnreadable,
  hasReadablePriority,
  isSure,
  orderText,
  priorityOf,
  stagesOf,
  type AccessPath,
} from "../parsing/policy_rules.ts";

export interface RuleCriteria {
  /** The verdict on what a rule that allows demands, no matter what place it has. */
  readonly judgeRule: (subject: Subject, rule: JsonObject) => FindingDraft;
  /** The verdict of a rule that denies, or null where the next rule decides; without it a DENY for everybody is PASS. */
  readonly judgeDeny?: (subject: Subject, rule: JsonObject) => FindingDraft | null;
  /** The verdict of a rule at priority 1, which has to be there, given the one on what it demands (null: it only denies). */
  readonly judgeFirst?: (subject: Subject, rule: JsonObject, draft: FindingDraft | null) => FindingDraft | null;
  readonly accessPath: AccessPath;
  /** The words of a finding where no active rule can decide. */
  readonly ifNone: string;
  /** Built-in groups, one of which is the group that every user is in. */
  readonly groups: Evidence<JsonList> | undefined;
}

/**
 * Judges a global session policy by its active rule with priority exactly 1, where these priorities start. `proven`: a FAIL that stands
 * no matter what other rules there are.
 */
export function judgeByRuleAtPriorityOne(rules: JsonList, subject: Subject, criteria: RuleCriteria) {
  const stages = stagesOf(rules.filter((rule) => !hasReadablePriority(rule) || priorityOf(rule) >= 1));
  const isAtOne = stages[0]?.some((rule) => priorityOf(rule) === 1) === true;
  const inactive = rules.find((rule) => activityOf(rule) === "inactive" && priorityOf(rule) === 1);
  if (isAtOne || stages.length === 0 || inactive === undefined)
    return evaluateRules({ stages: isAtOne ? stages : [], rules, needed: "first" }, subject, criteria);
  const { draft } = evaluateRules({ stages, rules, needed: "any" }, subject, criteria);
  if (draft.status !== "PASS") return { draft, proven: null };
  const actual = `${draft.actual}, behind the inactive rule "${nameOf(inactive)}" at priority 1`;
  return { draft: withNote(subject.manual("needs_review", actual), draft.uncovered), proven: null };
}

/** Judges an access policy by its active rule with the lowest priority, regardless of the number; the catch-all may be it. */
export function judgeByFirstRule(rules: JsonList, subject: Subject, criteria: RuleCriteria): FindingDraft {
  return evaluateRules({ stages: stagesOf(rules), rules, needed: "any" }, subject, criteria).draft;
}

interface RuleSequence {
  readonly stages: readonly JsonList[];
  /** Also those without a place. */
  readonly rules: JsonList;
  /** `first` where there has to be a rule in the first stage. */
  readonly needed: "first" | "any";
}

/**
 * Follows the rules as the provider does, from stage to stage (rules of one priority). The first rule that allows decides;
 * a rule that denies some people leaves the others to the next one, and a rule that denies everybody ends the evaluation.
 * Everything that cannot be known (the order of a tie, an unknown status) is tried both ways.
 */
function evaluateRules({ stages, rules, needed }: RuleSequence, subject: Subject, criteria: RuleCriteria) {
  const { judgeRule, judgeFirst, ifNone, accessPath } = criteria;
  /** The ids of the group that every user is in; null where it is unknown. */
  const everyone = everyoneIn(criteria.groups);
  const conditionsOf = (rule: JsonObject) => [...restrictionsOf(rule, everyone).keys()];
  const accessIn = (rule: JsonObject) => accessOf(rule, accessPath);
  /** An access that is neither ALLOW nor DENY, in words: no reading of it can PASS. */
  let unknownAccess: string | null = null;
  /** The verdict where the status of a rule on the way, or whom it denies, is unknown and decides. */
  let unknownRule: FindingDraft | null = null;
  /** The rules of a stage that nobody passes: weak ones, in words, before those for everybody. */
  const exitsOf = memoize((index: number) => {
    const stage = (stages[index] ?? []).map((rule) => ({ rule, weakness: weaknessOf(rule) }));
    const closing = stage.filter(({ rule }) => isSure(rule) && conditionsOf(rule).length === 0);
    return [...stage.filter(({ weakness }) => weakness !== null), ...closing];
  });
  /** The weak rule that is reached from each stage; made once, because a policy may have a hundred thousand rules. */
  let weakFrom: readonly (string | null)[] | null = null;
  const drafts = readings();
  // No rule comes before the one at priority 1, so its FAIL is proven no matter what else cannot be read.
  const first = needed === "first" ? (stages[0] ?? []).filter(isSure) : [];
  const proven = provenBy(first.map((rule) => outcomesOf(0, rule)));
  if (proven !== null) return { draft: proven, proven };
  // Rules that may come first, for all that can be read of them.
  const unplaced = rules.filter((rule) => activityOf(rule) !== "inactive" && !hasReadablePriority(rule));
  return { draft: combined(drafts, sortBy(unplaced, orderText)), proven };

  function combined(placed: readonly FindingDraft[], unplaced: JsonList): FindingDraft {
    const early = unplaced.map((rule) => withCause(judgeRule(subject, rule), "policy_rule", rule));
    const [draft, ...others] = [...placed, ...early];
    if (draft === undefined) return subject.fail(ifNone);
    // Every reading FAILs.
    const failing = provenBy([draft, ...others].map((one) => [one]));
    if (failing !== null) return failing;
    const [unread] = unplaced;
    if (unread !== undefined) return subject.unreadable(describeUnreadable(unread));
    if (unknownAccess !== null) return subject.unreadable(unknownAccess);
    if (others.every((other) => verdictOf(other) === verdictOf(draft)))
      return [draft, ...others].find((other) => "uncovered" in other) ?? draft;
    return unknownRule ?? subject.unreadable("several active rules of the same priority");
  }

  /** The FAIL of rules that each have that one outcome; null where one of them may end otherwise. */
  function provenBy(outcomes: readonly (readonly (FindingDraft | null)[])[]): FindingDraft | null {
    const drafts = outcomes.map(([draft = null, ...others]) => (others.length === 0 ? draft : null));
    const [first = null] = drafts;
    if (first === null || !drafts.every((draft) => draft?.status === "FAIL")) return null;
    // Names no rule if several fail in one place, because changing one of them is not enough.
    if (drafts.every((draft) => draft?.cause?.id === first.cause?.id)) return first;
    const { cause: _several, ...rest } = first;
    return rest;
  }

  /** Every possible verdict of the rules: rules of one priority in each order, an unknown status as active and as inactive. */
  function readings(): readonly FindingDraft[] {
    const none = subject.fail(ifNone);
    const drafts: FindingDraft[] = [];
    for (const [index, stage] of stages.entries()) {
      let leavesOthers = true;
      for (const rule of stage) {
        const outcomes = outcomesOf(index, rule);
        const decided = outcomes.filter((draft) => draft !== null);
        drafts.push(...decided);
        if (accessIn(rule) === "unknown") unknownAccess ??= `${describeAccess(rule)} of rule "${nameOf(rule)}"`;
        if (!isSure(rule)) unknownRule ??= subject.unreadable(describeUnreadable(rule));
        else if (decided.length === outcomes.length) leavesOthers = false;
      }
      if (!leavesOthers) return drafts;
      // Only rules of unknown status: in one reading none exists at priority 1.
      if (index === 0 && needed === "first" && !stage.some(isSure)) {
        drafts.push(none);
        if (stage.every((rule) => accessIn(rule) === "ALLOW")) return drafts;
      }
    }
    const denied = subject.pass("no rule that lets anybody in");
    const rules = stages.flat();
    if (rules.some(isSure)) return [...drafts, denied];
    return [...drafts, none, ...(rules.some((rule) => accessIn(rule) !== "ALLOW") ? [denied] : [])];
  }

  /** The verdicts that a rule of this stage may give; null where the next rule decides. A FAIL names the rule. */
  function outcomesOf(index: number, rule: JsonObject): readonly (FindingDraft | null)[] {
    const inPlace = (draft: FindingDraft | null) =>
      withCause(index === 0 && judgeFirst ? judgeFirst(subject, rule, draft) : draft, "policy_rule", rule);
    const access = accessIn(rule);
    const denied = access === "ALLOW" ? [] : judgeDeny(index, rule).map(inPlace);
    if (access === "DENY") return denied;
    const allowed = inPlace(judgeRule(subject, rule)) ?? subject.fail(ifNone);
    return [...denied, withPartialCoverage(allowed, remains(index, rule))];
  }

  /** Verdict of a rule that denies; null if the next rule decides; both if it is unknown whether it is for everybody. */
  function judgeDeny(index: number, rule: JsonObject): readonly (FindingDraft | null)[] {
    const verdict = criteria.judgeDeny?.(subject, rule) ?? null;
    const limits = [...restrictionsOf(rule, everyone)];
    if (verdict !== null) {
      // A DENY by network alone leaves to the next rule exactly those who may come in.
      const isForAll = limits.every(([name]) => name === "network");
      return [isForAll ? verdict : withPartialCoverage(verdict, remains(index, rule))];
    }
    if (limits.some(([, limit]) => limit === "some")) return [null];
    const everybody = subject.pass(`access denied to everybody by rule "${nameOf(rule)}"`);
    const [unknown] = limits;
    if (unknown === undefined) return [everybody];
    const withoutGroup = unknown[0] === "people" ? missingEveryone(criteria.groups, rule) : null;
    const actual = `groups denied by rule "${nameOf(rule)}", which may be everybody`;
    unknownRule ??=
      withoutGroup === null
        ? subject.unreadable(`the condition ${showValue(unknown[0])} of rule "${nameOf(rule)}"`)
        : { ...subject.missing(withoutGroup), actual };
    return [everybody, null];
  }

  /** Describes the first later rule that lets in, without what is expected, those whom this rule leaves to it; null where none exists. */
  function remains(index: number, rule: JsonObject): string | null {
    const conditions = conditionsOf(rule);
    if (conditions.length === 0) return null;
    const exit = exitsOf(index).find((one) => one.rule !== rule);
    weakFrom ??= weakRules();
    const weak = exit === undefined ? (weakFrom[index + 1] ?? null) : exit.weakness;
    if (weak === null) return null;
    // Groups that cannot be read may be everybody.
    const isByGroup = conditions.every((name) => name === "people");
    const withoutGroup = isByGroup ? missingEveryone(criteria.groups, rule) : null;
    const unless = withoutGroup ? `, unless it is for the group Everyone: ${withoutGroup.detail}` : "";
    return `Rule "${nameOf(rule)}" has conditions (${conditions.join(", ")})${unless}; users who match no earlier rule reach ${weak}`;
  }

  function weakRules(): readonly (string | null)[] {
    const found: (string | null)[] = [];
    for (let number = stages.length - 1; number >= 0; number -= 1) {
      const [exit] = exitsOf(number);
      found[number] = exit === undefined ? (found[number + 1] ?? null) : exit.weakness;
    }
    return found;
  }

  /** Describes what is wrong with a later rule that may let somebody in. */
  function weaknessOf(rule: JsonObject): string | null {
    const access = accessIn(rule);
    if (access === "DENY") return null;
    const reached = `the rule "${nameOf(rule)}", which`;
    if (!isSure(rule)) return `${reached} cannot be read: ${describeUnreadable(rule)}`;
    if (access === "unknown") return `${reached} has ${describeAccess(rule)}`;
    const draft = judgeRule(subject, rule);
    if (draft.status === "PASS")
      return draft.uncovered === undefined ? null : `${reached} is partly automated: ${draft.uncovered}`;
    return `${reached} is ${draft.status === "MANUAL" ? `MANUAL (${draft.reason})` : draft.status}: ${draft.actual}`;
  }

  function describeAccess(rule: JsonObject): string {
    const access = readWord(rule, accessPath, ["ALLOW", "DENY"]);
    return `the access ${access.kind === "unreadable" ? access.found : access.value}`;
  }
}

function verdictOf(draft: FindingDraft): string {
  return draft.status === "MANUAL" ? draft.reason : draft.status;
}
