import type { Evidence, JsonList, JsonObject, PolicyWithRules } from "../../artifacts.ts";
import type { FindingDraft } from "../../check.ts";
import { activityOf } from "./activity.ts";
import { fail, judgeList, manual, manualForMissing, unreadable, type Subject } from "./drafts.ts";
import { shown } from "./fields.ts";
import { ruleAtPriorityOne, type DecidingRule } from "./rules.ts";
import { resourceOf } from "./names.ts";

/** A finding for each active global session policy, by its active rule with priority 1. */
export function judgeSessionPolicies(
  policies: Evidence<readonly PolicyWithRules[]>,
  expected: string,
  judgeRule: (subject: Subject, rule: JsonObject) => FindingDraft,
): readonly FindingDraft[] {
  const decidingRule = createDecidingRule();
  return judgeList(policies, {
    expected,
    each: (item) => judgePolicy(item, { expected, judgeRule, decidingRule }),
    none: () => [fail({ resource: null, expected }, "no active global session policy")],
  });
}

interface PolicyJudge {
  readonly expected: string;
  readonly judgeRule: (subject: Subject, rule: JsonObject) => FindingDraft;
  readonly decidingRule: (rules: Evidence<JsonList>) => DecidingRule;
}

/** Looked for once in a list of rules, however many policies of one id share it. */
function createDecidingRule(): PolicyJudge["decidingRule"] {
  const found = new Map<Evidence<JsonList>, DecidingRule>();
  return (rules) => {
    const known = rules.state === "obtained" ? rules.value : (rules.partial ?? []);
    const deciding = found.get(rules) ?? ruleAtPriorityOne(known);
    found.set(rules, deciding);
    return deciding;
  };
}

function judgePolicy(
  { policy, rules }: PolicyWithRules,
  { expected, judgeRule, decidingRule }: PolicyJudge,
): FindingDraft | null {
  const subject: Subject = { resource: resourceOf("policy", policy), expected };
  const activity = activityOf(policy);
  if (activity === "inactive") return null;
  if (activity === "unknown") return unreadable(subject, `the status ${shown(policy["status"])}`);
  if (rules === null) return manual(subject, "provider_error", "no answer about its rules");
  const deciding = decidingRule(rules);
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
