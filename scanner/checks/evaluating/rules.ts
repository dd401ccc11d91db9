import type { Evidence, JsonList } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { FindingDraft } from "../check.ts";
import { activityOf } from "../parsing/activity.ts";
import { withCause, withNote, withPartialCoverage, type Subject } from "./finding_drafts.ts";
import { readText, showValue } from "../parsing/fields.ts";
import { nameOf } from "../parsing/names.ts";
import { everyoneIn, missingEveryone, restrictionsOf } from "../parsing/rule_conditions.ts";
import {
  accessOf,
  areTied,
  describeUnreadable,
  hasReadablePriority,
  inOrder,
  isSure,
  mayApply,
  priorityOf,
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
  const walk = new RuleWalk(
    rules.filter((rule) => !hasReadablePriority(rule) || priorityOf(rule) >= 1),
    subject,
    criteria,
  );
  const [first] = walk.ordered;
  const inactive = rules.find((rule) => activityOf(rule) === "inactive" && priorityOf(rule) === 1);
  if (first !== undefined && priorityOf(first) === 1) {
    // No rule comes before it, so its FAIL is proven no matter what else cannot be read.
    const ofFirst = walk.decide(0);
    const proven = ofFirst?.status === "FAIL" ? ofFirst : null;
    return { draft: proven ?? walk.verdict(), proven };
  }
  if (first === undefined || inactive === undefined)
    return { draft: walk.unplaced() ?? subject.fail(criteria.ifNone), proven: null };
  const draft = walk.verdict();
  if (draft.status !== "PASS") return { draft, proven: null };
  const actual = `${draft.actual}, behind the inactive rule "${nameOf(inactive)}" at priority 1`;
  return { draft: withNote(subject.manual("needs_review", actual), draft.uncovered), proven: null };
}

/** Judges an access policy by its active rule with the lowest priority, regardless of the number; the catch-all may be it. */
export function judgeByFirstRule(rules: JsonList, subject: Subject, criteria: RuleCriteria): FindingDraft {
  return new RuleWalk(rules, subject, criteria).verdict();
}

/**
 * Follows the rules as the provider does. The first rule that allows decides; a rule that denies some people leaves the others to the
 * next one, and a rule that denies everybody ends the walk. A rule on the way that cannot be read, or ties with the next, is MANUAL.
 */
class RuleWalk {
  /** The rules that may be active, and whose place can be read. */
  readonly ordered: JsonList;
  readonly #unplaced: JsonList;
  readonly #subject: Subject;
  readonly #criteria: RuleCriteria;
  /** The ids of the group that every user is in; null where it is unknown. */
  readonly #everyone: ReadonlySet<string> | null;
  /** The verdict where nobody can tell whom a rule on the way denies; what follows may still be a PASS either way. */
  #doubt: FindingDraft | null = null;

  constructor(rules: JsonList, subject: Subject, criteria: RuleCriteria) {
    this.ordered = inOrder(rules.filter(mayApply));
    this.#unplaced = inOrder(rules.filter((rule) => !hasReadablePriority(rule) && activityOf(rule) !== "inactive"));
    this.#subject = subject;
    this.#criteria = criteria;
    this.#everyone = everyoneIn(criteria.groups);
  }

  /** MANUAL where a rule may come before all others, for all that can be read of it; null where none may. */
  unplaced(): FindingDraft | null {
    const [rule] = this.#unplaced;
    return rule === undefined ? null : this.#subject.unreadable(describeUnreadable(rule));
  }

  verdict(): FindingDraft {
    const unplaced = this.unplaced();
    if (unplaced !== null) return unplaced;
    if (this.ordered.length === 0) return this.#subject.fail(this.#criteria.ifNone);
    for (const index of this.ordered.keys()) {
      const decided = this.decide(index);
      if (decided !== null) return decided.status === "PASS" ? decided : (this.#doubt ?? decided);
    }
    return this.#subject.pass("no rule that lets anybody in");
  }

  /** The verdict that a rule settles; null where the next one decides. A FAIL names the rule. */
  decide(index: number): FindingDraft | null {
    const { judgeRule, judgeFirst, accessPath } = this.#criteria;
    const [subject, rule = {}] = [this.#subject, this.ordered[index]];
    if (!isSure(rule)) return subject.unreadable(describeUnreadable(rule));
    if (areTied(rule, this.ordered[index + 1])) return subject.unreadable("several active rules of the same priority");
    const access = accessOf(rule, accessPath);
    if (access === "unknown") return subject.unreadable(`${this.#describeAccess(rule)} of rule "${nameOf(rule)}"`);
    const draft = access === "DENY" ? this.#judgeDeny(index, rule) : judgeRule(subject, rule);
    const inPlace = index === 0 && judgeFirst ? judgeFirst(subject, rule, draft) : draft;
    const named = withCause(inPlace, "policy_rule", rule);
    return access === "DENY" ? named : withPartialCoverage(named, this.#remains(index, rule));
  }

  /** Verdict that a rule that denies settles; null if the next rule decides. */
  #judgeDeny(index: number, rule: JsonObject): FindingDraft | null {
    const [subject, criteria] = [this.#subject, this.#criteria];
    const settled = criteria.judgeDeny?.(subject, rule) ?? null;
    const limits = [...restrictionsOf(rule, this.#everyone)];
    if (settled !== null) {
      // A DENY by network alone leaves to the next rule exactly those who may come in.
      const isForAll = limits.every(([name]) => name === "network");
      return isForAll ? settled : withPartialCoverage(settled, this.#remains(index, rule));
    }
    if (limits.some(([, limit]) => limit === "some")) return null;
    const [unknown] = limits;
    if (unknown === undefined) return subject.pass(`access denied to everybody by rule "${nameOf(rule)}"`);
    const withoutGroup = unknown[0] === "people" ? missingEveryone(criteria.groups, rule) : null;
    const actual = `groups denied by rule "${nameOf(rule)}", which may be everybody`;
    this.#doubt ??=
      withoutGroup === null
        ? subject.unreadable(`the condition ${showValue(unknown[0])} of rule "${nameOf(rule)}"`)
        : { ...subject.missing(withoutGroup), actual };
    return null;
  }

  /** Describes the first later rule that lets in, without what is expected, those whom this rule leaves to it; null where none exists. */
  #remains(index: number, rule: JsonObject): string | null {
    const conditions = this.#conditionsOf(rule);
    if (conditions.length === 0) return null;
    for (let number = index + 1; number < this.ordered.length; number += 1) {
      const other = this.ordered[number] ?? {};
      const weak = this.#weakness(other);
      if (weak !== null) {
        // Nobody can tell then whether the groups of the rule are everybody.
        const isByGroup = conditions.every((name) => name === "people");
        const withoutGroup = isByGroup ? missingEveryone(this.#criteria.groups, rule) : null;
        const unless = withoutGroup ? `, unless the rule is for the group Everyone: ${withoutGroup.detail}` : "";
        return `Rule "${nameOf(rule)}" has conditions (${conditions.join(", ")}); users who match no earlier rule reach ${weak}${unless}`;
      }
      if (isSure(other) && this.#conditionsOf(other).length === 0 && !areTied(other, this.ordered[number + 1]))
        return null;
    }
    return null;
  }

  /** Describes what is wrong with a later rule that may let somebody in. */
  #weakness(rule: JsonObject): string | null {
    const access = accessOf(rule, this.#criteria.accessPath);
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

  #describeAccess(rule: JsonObject): string {
    const access = readText(rule, this.#criteria.accessPath);
    return `the access ${access.kind === "value" ? showValue(access.value) : "that cannot be read"}`;
  }
}
