import type { Evidence, JsonList } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { FindingDraft } from "../check.ts";
import { activityOf } from "../parsing/activity.ts";
import { withCause, withNote, withPartialCoverage, type Subject } from "./finding_drafts.ts";
import { readText, showValue } from "../parsing/fields.ts";
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
  /** The verdict that a rule that denies settles, or null where the next rule decides; without it a DENY for everybody is PASS. */
  readonly judgeDeny?: (subject: Subject, rule: JsonObject) => FindingDraft | null;
  /** The verdict of a rule at priority 1, which has to be there, given the one on what it demands (null: it only denies). */
  readonly judgeFirst?: (subject: Subject, rule: JsonObject, draft: FindingDraft | null) => FindingDraft | null;
  readonly accessPath: AccessPath;
  /** The words of a finding where no active rule can decide. */
  readonly ifNone: string;
  /** Built-in groups, one of which is the group that every user is in. */
  readonly groups: Evidence<JsonList> | undefined;
}

export interface RulesVerdict {
  /** A PASS says which later rule it leaves to a person. */
  readonly draft: FindingDraft;
  /** A FAIL that stands no matter what other rules there are. */
  readonly proven: FindingDraft | null;
}

/** Judges a global session policy by its active rule with priority exactly 1, where these priorities start. */
export function judgeByRuleAtPriorityOne(rules: JsonList, subject: Subject, criteria: RuleCriteria): RulesVerdict {
  const stages = stagesOf(rules.filter((rule) => !hasReadablePriority(rule) || priorityOf(rule) >= 1));
  const isAtOne = stages[0]?.some((rule) => priorityOf(rule) === 1) === true;
  const inactive = rules.find((rule) => activityOf(rule) === "inactive" && priorityOf(rule) === 1);
  if (isAtOne || stages.length === 0 || inactive === undefined)
    return new RuleWalk(isAtOne ? stages : [], rules, { subject, criteria, needsFirst: true }).verdict();
  const { draft } = new RuleWalk(stages, rules, { subject, criteria, needsFirst: false }).verdict();
  if (draft.status !== "PASS") return { draft, proven: null };
  const actual = `${draft.actual}, behind the inactive rule "${nameOf(inactive)}" at priority 1`;
  return { draft: withNote(subject.manual("needs_review", actual), draft.uncovered), proven: null };
}

/** Judges an access policy by its active rule with the lowest priority, regardless of the number; the catch-all may be it. */
export function judgeByFirstRule(rules: JsonList, subject: Subject, criteria: RuleCriteria): FindingDraft {
  return new RuleWalk(stagesOf(rules), rules, { subject, criteria, needsFirst: false }).verdict().draft;
}

interface Walk {
  readonly subject: Subject;
  readonly criteria: RuleCriteria;
  /** True if there has to be a rule in the first stage. */
  readonly needsFirst: boolean;
}

/**
 * Follows the rules as the provider does, from stage to stage (rules of one priority). The first rule that allows decides;
 * a rule that denies some people leaves the others to the next one, and a rule that denies everybody ends the walk.
 * Everything that cannot be known (the order of a tie, an unknown status) is tried both ways.
 */
class RuleWalk {
  readonly #stages: readonly JsonList[];
  readonly #walk: Walk;
  /** The ids of the group that every user is in; null where it is unknown. */
  readonly #everyone: ReadonlySet<string> | null;
  /** Rules that may come first, for all that can be read of them. */
  readonly #unplaced: JsonList;
  /** An access that is neither ALLOW nor DENY, in words: no reading of it can PASS. */
  #unknownAccess: string | null = null;
  /** The verdict where the status of a rule on the way, or whom it denies, is unknown and decides. */
  #unknownRule: FindingDraft | null = null;

  constructor(stages: readonly JsonList[], rules: JsonList, walk: Walk) {
    this.#stages = stages;
    this.#walk = walk;
    this.#everyone = everyoneIn(walk.criteria.groups);
    const unplaced = rules.filter((rule) => activityOf(rule) !== "inactive" && !hasReadablePriority(rule));
    this.#unplaced = sortBy(unplaced, orderText);
  }

  verdict(): RulesVerdict {
    const { subject, criteria } = this.#walk;
    const drafts = this.#readings();
    const proven = this.#provenByFirst();
    if (proven !== null) return { draft: proven, proven };
    const unplaced = this.#unplaced.map((rule) => withCause(criteria.judgeRule(subject, rule), "policy_rule", rule));
    return { draft: this.#combined([...drafts, ...unplaced]), proven };
  }

  #combined(drafts: readonly FindingDraft[]): FindingDraft {
    const { subject, criteria } = this.#walk;
    const [draft, ...others] = drafts;
    if (draft === undefined) return subject.fail(criteria.ifNone);
    // Every reading FAILs.
    if (drafts.every(({ status }) => status === "FAIL")) return withOneCause(draft, drafts);
    const [unplaced] = this.#unplaced;
    if (unplaced !== undefined) return subject.unreadable(describeUnreadable(unplaced));
    if (this.#unknownAccess !== null) return subject.unreadable(this.#unknownAccess);
    if (others.every((other) => verdictOf(other) === verdictOf(draft)))
      return drafts.find((other) => "uncovered" in other) ?? draft;
    return this.#unknownRule ?? subject.unreadable("several active rules of the same priority");
  }

  /** No rule comes before the one at priority 1, so its FAIL is proven no matter what else cannot be read. */
  #provenByFirst(): FindingDraft | null {
    const { criteria, needsFirst, subject } = this.#walk;
    const sure = (this.#stages[0] ?? []).filter(isSure);
    if (!needsFirst || sure.length === 0) return null;
    const drafts = sure.map((rule) => {
      const access = this.#accessOf(rule);
      if (access === "unknown") return null;
      const readings = access === "DENY" ? this.#judgeDeny(0, rule) : [criteria.judgeRule(subject, rule)];
      const [draft = null, ...others] = readings.map((reading) => this.#inPlace(0, rule, reading));
      return others.length === 0 ? draft : null;
    });
    const [first = null] = drafts;
    if (first === null || !drafts.every((draft) => draft?.status === "FAIL")) return null;
    return withOneCause(first, drafts);
  }

  /** Every possible verdict of the rules: rules of one priority in each order, an unknown status as active and as inactive. */
  #readings(): readonly FindingDraft[] {
    const { subject, criteria, needsFirst } = this.#walk;
    const none = subject.fail(criteria.ifNone);
    const drafts: FindingDraft[] = [];
    for (const [index, stage] of this.#stages.entries()) {
      let leavesOthers = true;
      for (const rule of stage) {
        const access = this.#accessOf(rule);
        const readings = access === "ALLOW" ? [] : this.#judgeDeny(index, rule);
        const denied = readings.map((draft) => this.#inPlace(index, rule, draft)).filter((draft) => draft !== null);
        drafts.push(...denied);
        if (access !== "DENY") drafts.push(this.#allowed(index, rule));
        if (access === "unknown") this.#unknownAccess ??= `${this.#describeAccess(rule)} of rule "${nameOf(rule)}"`;
        if (!isSure(rule)) this.#unknownRule ??= subject.unreadable(describeUnreadable(rule));
        else if (denied.length === readings.length) leavesOthers = false;
      }
      if (!leavesOthers) return drafts;
      // Only rules of unknown status: in one reading none exists at priority 1.
      if (index === 0 && needsFirst && !stage.some(isSure)) {
        drafts.push(none);
        if (stage.every((rule) => this.#accessOf(rule) === "ALLOW")) return drafts;
      }
    }
    const denied = subject.pass("no rule that lets anybody in");
    const rules = this.#stages.flat();
    if (rules.some(isSure)) return [...drafts, denied];
    return [...drafts, none, ...(rules.some((rule) => this.#accessOf(rule) !== "ALLOW") ? [denied] : [])];
  }

  #allowed(index: number, rule: JsonObject): FindingDraft {
    const { subject, criteria } = this.#walk;
    const draft = this.#inPlace(index, rule, criteria.judgeRule(subject, rule)) ?? subject.fail(criteria.ifNone);
    return withPartialCoverage(draft, this.#remains(index, rule));
  }

  /** The verdict on a rule in this stage; a FAIL names the rule. */
  #inPlace(index: number, rule: JsonObject, draft: FindingDraft | null): FindingDraft | null {
    const { subject, criteria } = this.#walk;
    const isFirst = index === 0 && criteria.judgeFirst !== undefined;
    return withCause(isFirst ? criteria.judgeFirst(subject, rule, draft) : draft, "policy_rule", rule);
  }

  /** Verdict that a rule that denies settles; null if the next rule decides; both if it is unknown whether it is for everybody. */
  #judgeDeny(index: number, rule: JsonObject): readonly (FindingDraft | null)[] {
    const { subject, criteria } = this.#walk;
    const settled = criteria.judgeDeny?.(subject, rule) ?? null;
    if (settled !== null) {
      // A DENY by network alone leaves to the next rule exactly those who may come in.
      const isForAll = this.#restrictions(rule).every((name) => name === "network");
      return [isForAll ? settled : withPartialCoverage(settled, this.#remains(index, rule))];
    }
    const limits = [...restrictionsOf(rule, this.#everyone)];
    if (limits.some(([, limit]) => limit === "some")) return [null];
    const everybody = subject.pass(`access denied to everybody by rule "${nameOf(rule)}"`);
    const [unknown] = limits;
    if (unknown === undefined) return [everybody];
    const withoutGroup = unknown[0] === "people" ? missingEveryone(criteria.groups, rule) : null;
    this.#unknownRule ??=
      withoutGroup === null
        ? subject.unreadable(`the condition ${showValue(unknown[0])} of rule "${nameOf(rule)}"`)
        : {
            ...subject.missing(withoutGroup),
            actual: `groups denied by rule "${nameOf(rule)}", which may be everybody`,
          };
    return [everybody, null];
  }

  /** Describes the first later rule that lets in, without what is expected, those whom this rule leaves to it; null where none exists. */
  #remains(index: number, rule: JsonObject): string | null {
    const restrictions = this.#restrictions(rule);
    if (restrictions.length === 0) return null;
    for (let number = index; number < this.#stages.length; number += 1) {
      const others = (this.#stages[number] ?? []).filter((other) => other !== rule);
      const weak = others.map((other) => this.#weakness(other)).find((text) => text !== null);
      if (weak !== undefined && weak !== null) {
        return `Rule "${nameOf(rule)}" has conditions (${restrictions.join(", ")}); users who match no earlier rule reach ${weak}${this.#sayMissing(rule)}`;
      }
      if (others.some((other) => isSure(other) && this.#restrictions(other).length === 0)) return null;
    }
    return null;
  }

  /** Says why it is unknown whether the groups of a rule are everybody; empty where that decides nothing. */
  #sayMissing(rule: JsonObject): string {
    const isByGroup = this.#restrictions(rule).every((name) => name === "people");
    const withoutGroup = isByGroup ? missingEveryone(this.#walk.criteria.groups, rule) : null;
    return withoutGroup === null ? "" : `, unless the rule is for the group Everyone: ${withoutGroup.detail}`;
  }

  /** Describes what is wrong with a later rule that may let somebody in. */
  #weakness(rule: JsonObject): string | null {
    const { subject, criteria } = this.#walk;
    const access = this.#accessOf(rule);
    if (access === "DENY") return null;
    const reached = `the rule "${nameOf(rule)}", which`;
    if (!isSure(rule)) return `${reached} cannot be read: ${describeUnreadable(rule)}`;
    if (access === "unknown") return `${reached} has ${this.#describeAccess(rule)}`;
    const draft = criteria.judgeRule(subject, rule);
    if (draft.status === "PASS")
      return draft.uncovered === undefined ? null : `${reached} is partly automated: ${draft.uncovered}`;
    return `${reached} is ${draft.status === "MANUAL" ? `MANUAL (${draft.reason})` : draft.status}: ${draft.actual}`;
  }

  #restrictions(rule: JsonObject): readonly string[] {
    return [...restrictionsOf(rule, this.#everyone).keys()];
  }

  #accessOf(rule: JsonObject): "ALLOW" | "DENY" | "unknown" {
    return accessOf(rule, this.#walk.criteria.accessPath);
  }

  #describeAccess(rule: JsonObject): string {
    const access = readText(rule, this.#walk.criteria.accessPath);
    return `the access ${access.kind === "value" ? showValue(access.value) : "that cannot be read"}`;
  }
}

/** Names no rule if several fail in one place, because changing one of them is not enough. */
function withOneCause(draft: FindingDraft, drafts: readonly (FindingDraft | null)[]): FindingDraft {
  if (drafts.every((other) => other?.cause?.id === draft.cause?.id)) return draft;
  const { cause: _several, ...rest } = draft;
  return rest;
}

function verdictOf(draft: FindingDraft): string {
  return draft.status === "MANUAL" ? draft.reason : draft.status;
}
