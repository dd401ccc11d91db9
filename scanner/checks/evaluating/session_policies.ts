import { firstRequestText } from "../../evidence/artifact_table.ts";
import {
  entriesOf,
  type Artifacts,
  type CollectedArtifacts,
  type Evidence,
  type JsonList,
  type PolicyWithRules,
} from "../../evidence/artifacts.ts";
import { memoize } from "./memoize.ts";
import { activityOf } from "../parsing/activity.ts";
import { judgeList, Subject, withNames, type FindingDraft } from "./finding_drafts.ts";
import { judgeByRuleAtPriorityOne, type RuleCriteria } from "./rules.ts";
import { resourceOf } from "../parsing/names.ts";
import { isSystem, requireDefault } from "../parsing/whole_list.ts";
import { groupsFor } from "../parsing/policy_rules.ts";

export interface SessionCriteria extends Pick<RuleCriteria, "judgeRule" | "judgeDeny" | "judgeFirst"> {
  readonly expected: string;
}

export function groupsOfSessionRules(artifacts: Pick<CollectedArtifacts, "global_session_policies">) {
  return groupsFor(entriesOf(artifacts.global_session_policies).flatMap(({ rules }) => entriesOf(rules)));
}

type SessionEvidence = Pick<Artifacts, "global_session_policies"> & Pick<CollectedArtifacts, "built_in_groups">;

/** A finding for each active global session policy, by its active rule with priority 1. */
export function judgeSessionPolicies(
  { global_session_policies: policies, built_in_groups: groups }: SessionEvidence,
  criteria: SessionCriteria,
): readonly FindingDraft[] {
  const { expected } = criteria;
  // A list of rules is judged once, however many policies of one id share it.
  const judgeOnce = memoize((rules: Evidence<JsonList>) => judgeRules(rules, criteria, groups));
  const whole = requireDefault(policies, {
    isDefault: ({ policy }) => isSystem(policy),
    name: "Default Policy",
    request: firstRequestText("global_session_policies"),
  });
  const unruled = entriesOf(whole).flatMap((one) => (isWithoutRules(one) ? [one.policy] : []));
  const drafts = judgeList(whole, {
    expected,
    judgeItem(item) {
      const { policy, rules } = item;
      const subject = new Subject(resourceOf("policy", policy), expected);
      if (isWithoutRules(item)) return null;
      return subject.ifActive(policy, () =>
        rules === null
          ? subject.manual("provider_error", "no answer about its rules")
          : { ...judgeOnce(rules), resource: subject.about.resource },
      );
    },
    judgeEmpty: (org) => [org.fail("no active global session policy")],
  });
  return withNames(drafts, "left out, because Okta does not consider policies without active rules", unruled);
}

/** A custom policy whose rules are known, none of them active. Okta's own policy needs one. */
function isWithoutRules({ policy, rules }: PolicyWithRules): boolean {
  if (policy["system"] !== false || activityOf(policy) !== "active") return false;
  return rules?.state === "obtained" && rules.value.every((rule) => activityOf(rule) === "inactive");
}

/** The verdict on any policy with these rules. */
function judgeRules(
  rules: Evidence<JsonList>,
  { expected, ...judging }: SessionCriteria,
  groups: Evidence<JsonList> | undefined,
): FindingDraft {
  const subject = new Subject(null, expected);
  const { draft, proven } = judgeByRuleAtPriorityOne(entriesOf(rules), subject, {
    ...judging,
    accessPath: "actions.signon.access",
    ifNone: "no active rule at priority 1",
    groups,
  });
  if (rules.state === "obtained") return draft;
  // The rule at priority 1 is known, so its FAIL is proven even where later pages are missing.
  return proven ?? subject.missing(rules);
}
