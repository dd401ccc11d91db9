import type { Evidence, JsonList, PolicyWithRules } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { FindingDraft } from "../check.ts";
import { activityOf, unknownActivity } from "../parsing/activity.ts";
import { fail, judgeList, manual, manualForMissing, unreadable, withRemains, type Subject } from "./finding_drafts.ts";
import { judgeByRuleAtPriorityOne, leftToNextRule } from "./rules.ts";
import { resourceOf } from "../parsing/names.ts";

export interface SessionJudge {
  readonly expected: string;
  readonly judgeRule: (subject: Subject, rule: JsonObject) => FindingDraft;
  /** What the rules after the deciding one leave of a PASS to a person. */
  readonly remains?: (later: JsonList) => string | null;
}

/** A finding for each active global session policy, by its active rule with priority 1. */
export function judgeSessionPolicies(
  policies: Evidence<readonly PolicyWithRules[]>,
  judge: SessionJudge,
): readonly FindingDraft[] {
  const { expected } = judge;
  // A list of rules is judged once, however many policies of one id share it.
  const judged = new Map<Evidence<JsonList>, FindingDraft>();
  const judgeOnce = (rules: Evidence<JsonList>) => {
    const draft = judged.get(rules) ?? judgeRules(rules, judge);
    judged.set(rules, draft);
    return draft;
  };
  return judgeList(policies, {
    expected,
    each: (item) => judgePolicy(item, expected, judgeOnce),
    none: () => [fail({ resource: null, expected }, "no active global session policy")],
  });
}

function judgePolicy(
  { policy, rules }: PolicyWithRules,
  expected: string,
  judgeOnce: (rules: Evidence<JsonList>) => FindingDraft,
): FindingDraft | null {
  const subject: Subject = { resource: resourceOf("policy", policy), expected };
  const activity = activityOf(policy);
  if (activity === "inactive") return null;
  if (activity === "unknown") return unreadable(subject, unknownActivity(policy));
  if (rules === null) return manual(subject, "provider_error", "no answer about its rules");
  return { ...judgeOnce(rules), resource: subject.resource };
}

/** The verdict on a policy with these rules, without the policy that it is said of. */
function judgeRules(rules: Evidence<JsonList>, { expected, judgeRule, remains }: SessionJudge): FindingDraft {
  const subject: Subject = { resource: null, expected };
  const known = rules.state === "obtained" ? rules.value : (rules.partial ?? []);
  const none = "no active rule at priority 1";
  const judge = { judgeRule, none };
  const verdict = judgeByRuleAtPriorityOne(known, subject, judge);
  const { draft, deciding, later } = verdict;
  if (rules.state === "obtained")
    return withRemains(draft, [leftToNextRule(verdict, subject, judge), remains?.(later)]);
  // The rule was seen, so what it gets wrong is proven even where the pages after it are missing.
  return deciding.length > 0 && draft.status === "FAIL" ? draft : manualForMissing(subject, rules);
}
