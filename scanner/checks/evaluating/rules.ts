import type { Evidence, JsonList } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { activityOf } from "../parsing/activity.ts";
import { withCause, withNote, withPartialCoverage, type Subject, type FindingDraft } from "./finding_drafts.ts";
import { readWord, showValue } from "../parsing/fields.ts";
import { sortBy, nameOf } from "../parsing/names.ts";
import { everyoneIn, missingEveryone, restrictionsOf } from "../parsing/rule_conditions.ts";
import {
  accessOf,
  describeUnreadable,
  hasReadablePriority,
  isSure,
  orderText,
  priorityOf,
  stagesOf,
  type AccessPath,
} from "../parsing/rule_order.ts";

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
    return new RuleEvaluation(subject, criteria).verdict(isAtOne ? stages : [], rules, "first");
  const { draft } = new RuleEvaluation(subject, criteria).verdict(stages, rules, "any");
  if (draft.status !== "PASS") return { draft, proven: null };
  const actual = `${draft.actual}, behind the inactive rule "${nameOf(inactive)}" at priority 1`;
  return { draft: withNote(subject.manual("needs_review", actual), draft.uncovered), proven: null };
}

/** Judges an access policy by its active rule with the lowest priority, regardless of the number; the catch-all may be it. */
export function judgeByFirstRule(rules: JsonList, subject: Subject, criteria: RuleCriteria): FindingDraft {
  return new RuleEvaluation(subject, criteria).verdict(stagesOf(rules), rules, "any").draft;
}

/**
 * Follows the rules as the provider does, from stage to stage (rules of one priority). The first rule that allows decides;
 * a rule that denies some people leaves the others to the next one, and a rule that denies everybody ends the evaluation.
 * Everything that cannot be known (the order of a tie, an unknown status) is tried both ways.
 */
class RuleEvaluation {
  readonly #subject: Subject;
  readonly #criteria: RuleCriteria;
  /** The ids of the group that every user is in; null where it is unknown. */
  readonly #everyone: ReadonlySet<string> | null;
  #stages: readonly JsonList[] = [];
  /** An access that is neither ALLOW nor DENY, in words: no reading of it can PASS. */
  #unknownAccess: string | null = null;
  /** The verdict where the status of a rule on the way, or whom it denies, is unknown and decides. */
  #unknownRule: FindingDraft | null = null;

  constructor(subject: Subject, criteria: RuleCriteria) {
    this.#subject = subject;
    this.#criteria = criteria;
    this.#everyone = everyoneIn(criteria.groups);
  }

  /** `needed`: `first` where there has to be a rule in the first stage. */
  verdict(stages: readonly JsonList[], rules: JsonList, needed: "first" | "any") {
    this.#stages = stages;
    const drafts = this.#readings(needed);
    // No rule comes before the one at priority 1, so its FAIL is proven no matter what else cannot be read.
    const first = needed === "first" ? (stages[0] ?? []).filter(isSure) : [];
    const proven = this.#provenBy(first.map((rule) => this.#outcomesOf(0, rule)));
    if (proven !== null) return { draft: proven, proven };
    // Rules that may come first, for all that can be read of them.
    const unplaced = rules.filter((rule) => activityOf(rule) !== "inactive" && !hasReadablePriority(rule));
    return { draft: this.#combined(drafts, sortBy(unplaced, orderText)), proven };
  }

  #combined(placed: readonly FindingDraft[], unplaced: JsonList): FindingDraft {
    const subject = this.#subject;
    const early = unplaced.map((rule) => withCause(this.#criteria.judgeRule(subject, rule), "policy_rule", rule));
    const [draft, ...others] = [...placed, ...early];
    if (draft === undefined) return subject.fail(this.#criteria.ifNone);
    // Every reading FAILs.
    const failing = this.#provenBy([draft, ...others].map((one) => [one]));
    if (failing !== null) return failing;
    const [unread] = unplaced;
    if (unread !== undefined) return subject.unreadable(describeUnreadable(unread));
    if (this.#unknownAccess !== null) return subject.unreadable(this.#unknownAccess);
    if (others.every((other) => verdictOf(other) === verdictOf(draft)))
      return [draft, ...others].find((other) => "uncovered" in other) ?? draft;
    return this.#unknownRule ?? subject.unreadable("several active rules of the same priority");
  }

  /** The FAIL of rules that each have that one outcome; null where one of them may end otherwise. */
  #provenBy(outcomes: readonly (readonly (FindingDraft | null)[])[]): FindingDraft | null {
    const drafts = outcomes.map(([draft = null, ...others]) => (others.length === 0 ? draft : null));
    const [first = null] = drafts;
    if (first === null || !drafts.every((draft) => draft?.status === "FAIL")) return null;
    // Names no rule if several fail in one place, because changing one of them is not enough.
    if (drafts.every((draft) => draft?.cause?.id === first.cause?.id)) return first;
    const { cause: _several, ...rest } = first;
    return rest;
  }

  /** Every possible verdict of the rules: rules of one priority in each order, an unknown status as active and as inactive. */
  #readings(needed: "first" | "any"): readonly FindingDraft[] {
    const none = this.#subject.fail(this.#criteria.ifNone);
    const drafts: FindingDraft[] = [];
    for (const [index, stage] of this.#stages.entries()) {
      let leavesOthers = true;
      for (const rule of stage) {
        const outcomes = this.#outcomesOf(index, rule);
        const decided = outcomes.filter((draft) => draft !== null);
        drafts.push(...decided);
        if (this.#accessOf(rule) === "unknown")
          this.#unknownAccess ??= `${this.#describeAccess(rule)} of rule "${nameOf(rule)}"`;
        if (!isSure(rule)) this.#unknownRule ??= this.#subject.unreadable(describeUnreadable(rule));
        else if (decided.length === outcomes.length) leavesOthers = false;
      }
      if (!leavesOthers) return drafts;
      // Only rules of unknown status: in one reading none exists at priority 1.
      if (index === 0 && needed === "first" && !stage.some(isSure)) {
        drafts.push(none);
        if (stage.every((rule) => this.#accessOf(rule) === "ALLOW")) return drafts;
      }
    }
    const denied = this.#subject.pass("no rule that lets anybody in");
    const rules = this.#stages.flat();
    if (rules.some(isSure)) return [...drafts, denied];
    return [...drafts, none, ...(rules.some((rule) => this.#accessOf(rule) !== "ALLOW") ? [denied] : [])];
  }

  /** The verdicts that a rule of this stage may give; null where the next rule decides. A FAIL names the rule. */
  #outcomesOf(index: number, rule: JsonObject): readonly (FindingDraft | null)[] {
    const { judgeRule, judgeFirst, ifNone } = this.#criteria;
    const inPlace = (draft: FindingDraft | null) =>
      withCause(index === 0 && judgeFirst ? judgeFirst(this.#subject, rule, draft) : draft, "policy_rule", rule);
    const access = this.#accessOf(rule);
    const denied = access === "ALLOW" ? [] : this.#judgeDeny(index, rule).map(inPlace);
    if (access === "DENY") return denied;
    const allowed = inPlace(judgeRule(this.#subject, rule)) ?? this.#subject.fail(ifNone);
    return [...denied, withPartialCoverage(allowed, this.#remains(index, rule))];
  }

  /** Verdict of a rule that denies; null if the next rule decides; both if it is unknown whether it is for everybody. */
  #judgeDeny(index: number, rule: JsonObject): readonly (FindingDraft | null)[] {
    const [subject, criteria] = [this.#subject, this.#criteria];
    const verdict = criteria.judgeDeny?.(subject, rule) ?? null;
    const limits = [...restrictionsOf(rule, this.#everyone)];
    if (verdict !== null) {
      // A DENY by network alone leaves to the next rule exactly those who may come in.
      const isForAll = limits.every(([name]) => name === "network");
      return [isForAll ? verdict : withPartialCoverage(verdict, this.#remains(index, rule))];
    }
    if (limits.some(([, limit]) => limit === "some")) return [null];
    const everybody = subject.pass(`access denied to everybody by rule "${nameOf(rule)}"`);
    const [unknown] = limits;
    if (unknown === undefined) return [everybody];
    const withoutGroup = unknown[0] === "people" ? missingEveryone(criteria.groups, rule) : null;
    const actual = `groups denied by rule "${nameOf(rule)}", which may be everybody`;
    this.#unknownRule ??=
      withoutGroup === null
        ? subject.unreadable(`the condition ${showValue(unknown[0])} of rule "${nameOf(rule)}"`)
        : { ...subject.missing(withoutGroup), actual };
    return [everybody, null];
  }

  /** Describes the first later rule that lets in, without what is expected, those whom this rule leaves to it; null where none exists. */
  #remains(index: number, rule: JsonObject): string | null {
    const conditions = this.#conditionsOf(rule);
    if (conditions.length === 0) return null;
    for (let number = index; number < this.#stages.length; number += 1) {
      const others = (this.#stages[number] ?? []).filter((other) => other !== rule);
      const weak = others.map((other) => this.#weakness(other)).find((text) => text !== null);
      if (weak !== undefined && weak !== null) {
        // Groups that cannot be read may be everybody.
        const isByGroup = conditions.every((name) => name === "people");
        const withoutGroup = isByGroup ? missingEveryone(this.#criteria.groups, rule) : null;
        const unless = withoutGroup ? `, unless it is for the group Everyone: ${withoutGroup.detail}` : "";
        return `Rule "${nameOf(rule)}" has conditions (${conditions.join(", ")})${unless}; users who match no earlier rule reach ${weak}`;
      }
      if (others.some((other) => isSure(other) && this.#conditionsOf(other).length === 0)) return null;
    }
    return null;
  }

  /** Describes what is wrong with a later rule that may let somebody in. */
  #weakness(rule: JsonObject): string | null {
    const access = this.#accessOf(rule);
    if (access === "DENY") return null;
    const reached = `the rule "${nameOf(rule)}", which`;
    if (!isSure(rule)) return `${reached} cannot be read: ${describeUnreadable(rule)}`;
    if (access === "unknown") return `${reached} has ${this.#describeAccess(rule)}`;
    const draft = this.#criteria.judgeRule(this.#subject, rule);
    if (draft.status === "PASS")
      return draft.uncovered === undefined ? null : `${reached} is partly automated: ${draft.uncovered}`;
    return `${reached} is ${draft.status === "MANUAL" ? `MANUAL (${draft.reason})` : draft.status}: ${draft.actual}`;
  }

  #conditionsOf(rule: JsonObject): readonly string[] {
    return [...restrictionsOf(rule, this.#everyone).keys()];
  }

  #accessOf(rule: JsonObject): "ALLOW" | "DENY" | "unknown" {
    return accessOf(rule, this.#criteria.accessPath);
  }

  #describeAccess(rule: JsonObject): string {
    const access = readWord(rule, this.#criteria.accessPath, ["ALLOW", "DENY"]);
    return `the access ${access.kind === "unreadable" ? access.found : access.value}`;
  }
}

function verdictOf(draft: FindingDraft): string {
  return draft.status === "MANUAL" ? draft.reason : draft.status;
}
