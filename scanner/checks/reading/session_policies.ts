import type { Evidence, JsonList, JsonObject, PolicyWithRules } from "../../artifacts.ts";
import type { FindingDraft } from "../../check.ts";
import { activityOf } from "./activity.ts";
import { fail, judgeList, manual, manualForMissing, unreadable, type Subject } from "./drafts.ts";
import { shown } from "./fields.ts";
import { ruleAtPriorityOne } from "./rules.ts";
import { resourceOf } from "./names.ts";

/** A finding for each active global session policy, by its active rule with priority 1. */
export function judgeSessionPolicies(
  policies: Evidence<readonly PolicyWithRules[]>,
  expected: string,
  judgeRule: (subject: Subject, rule: JsonObject) => FindingDraft,
): readonly FindingDraft[] {
  // A list of rules is judged once, however many policies of one id share it.
  const judged = new Map<Evidence<JsonList>, FindingDraft>();
  const judgeOnce = (rules: Evidence<JsonList>) => {
    const draft = judged.get(rules) ?? judgeRules(rules, { resource: null, expected }, judgeRule);
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
  if (activity === "unknown") return unreadable(subject, `the status ${shown(policy["status"])}`);
  if (rules === null) return manual(subject, "provider_error", "no answer about its rules");
  return { ...judgeOnce(rules), resource: subject.resource };
}

/** The verdict on a policy with these rules, without the policy that it is said of. */
function judgeRules(
  rules: Evidence<JsonList>,
  subject: Subject,
  judgeRule: (subject: Subject, rule: JsonObject) => FindingDraft,
): FindingDraft {
  const known = rules.state === "obtained" ? rules.value : (rules.partial ?? []);
  const deciding = ruleAtPriorityOne(known);
  const isWhole = rules.state === "obtained";
  if (deciding.kind === "value") {
    const draft = judgeRule(subject, deciding.value);
    // The rule was seen, so what it gets wrong is proven even where the pages after it are missing.
    if (isWhole || draft.status === "FAIL") return draft;
  }
  if (!isWhole) return manualForMissing(subject, rules);
  if (deciding.kind === "unreadable") return unreadable(subject, deciding.found);
  return fail(subject, "no active rule at priority 1");
}
