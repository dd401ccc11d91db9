import type { JsonObject } from "../../../shared/json.ts";
import { availableValue, type Evidence, type JsonList, type PolicyWithRules } from "../../evidence/artifacts.ts";
import { memoize } from "./memoize.ts";
import type { FindingDraft } from "../check.ts";
import { activityOf, unknownActivity } from "../parsing/activity.ts";
import {
  fail,
  judgeList,
  manual,
  manualForMissing,
  unreadable,
  withUncovered,
  type Subject,
} from "./finding_drafts.ts";
import { judgeByRuleAtPriorityOne, describeNextRule } from "./rules.ts";
import { resourceOf } from "../parsing/names.ts";

export interface SessionCriteria {
  readonly expected: string;
  readonly judgeRule: (subject: Subject, rule: JsonObject) => FindingDraft;
  /** What of a PASS the rules after the deciding one leave to a person. */
  readonly uncovered?: (later: JsonList) => string | null;
}

/** A finding for each active global session policy, by its active rule with priority 1. */
export function judgeSessionPolicies(
  policies: Evidence<readonly PolicyWithRules[]>,
  criteria: SessionCriteria,
): readonly FindingDraft[] {
  const { expected } = criteria;
  // A list of rules is judged once, however many policies of one id share it.
  const judgeOnce = memoize((rules: Evidence<JsonList>) => judgeRules(rules, criteria));
  return judgeList(policies, {
    expected,
    judgeItem: (item) => judgePolicy(item, expected, judgeOnce),
    judgeEmpty: () => [fail({ resource: null, expected }, "no active global session policy")],
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

/** The verdict on any policy with these rules. */
function judgeRules(rules: Evidence<JsonList>, { expected, judgeRule, uncovered }: SessionCriteria): FindingDraft {
  const subject: Subject = { resource: null, expected };
  const ruleCriteria = { judgeRule, ifNone: "no active rule at priority 1" };
  const verdict = judgeByRuleAtPriorityOne(availableValue(rules) ?? [], subject, ruleCriteria);
  const { draft, deciding, later } = verdict;
  if (rules.state === "obtained")
    return withUncovered(draft, [describeNextRule(verdict, subject, ruleCriteria), uncovered?.(later)]);
  // The deciding rule is known, so its FAIL is proven even where later pages are missing.
  return deciding.length > 0 && draft.status === "FAIL" ? draft : manualForMissing(subject, rules);
}
