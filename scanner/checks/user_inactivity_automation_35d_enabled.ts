import { decide } from "./deciding_fields.ts";
import {
  entriesOf,
  type Artifacts,
  type Evidence,
  type JsonList,
  type PolicyWithRules,
} from "../evidence/artifacts.ts";
import { defineCheck, type FindingDraft } from "./check.ts";
import { readAutomation, type Automation, type AutomationCriteria } from "./evaluating/automations.ts";
import { limitOf, most, type ParameterValues } from "./parameter.ts";
import { readText, showValue } from "./parsing/fields.ts";
import { sortBy, resourceOf } from "./parsing/names.ts";
import { directoryEvidence, directoryFields, type DirectoryEvidence } from "./parsing/directory.ts";
import { everyoneIn } from "./parsing/rule_conditions.ts";
import { unlessDirectory } from "./evaluating/directory_sourcing.ts";
import { Subject } from "./evaluating/finding_drafts.ts";

const inactiveDays = most("user_inactivity_days", "days", 35, { max: 3650 });

function expectation(maxDays: number): string {
  return `an active automation that suspends or deactivates users after at most ${maxDays} days of inactivity`;
}

const uncovered = "Verify that the groups of the automation have every user";

export const userInactivityAutomationEnabled = defineCheck({
  name: "user_inactivity_automation_35d_enabled",
  artifacts: ["user_lifecycle_policies"],
  conditionalArtifacts: (
    { user_lifecycle_policies: policies, built_in_groups: groups },
    { parameters },
  ): readonly (DirectoryEvidence | "built_in_groups" | "automation_groups")[] => {
    const drafts = judgeAutomations(policies, criteriaOf(parameters, [groups]));
    const [passing] = drafts.filter((draft) => draft.status === "PASS");
    if (passing !== undefined && groups === undefined) return ["built_in_groups"];
    if (passing !== undefined) return "uncovered" in passing ? ["automation_groups"] : [];
    return drafts.some(({ status }) => status === "FAIL") ? directoryEvidence : [];
  },
  parameters: [inactiveDays],
  explanation: {
    examines:
      "Whether an active automation disables accounts after at most 35 days without a sign-in, for the group Everyone.",
    why: "An unused account that is taken over goes unnoticed.",
    disa: "If the Okta configuration does not automatically disable accounts after a 35-day period of account inactivity, this is a finding.",
    rests_on: [
      "PASS: one automation is ACTIVE with an ACTIVE action, an inactivity of at most 35 days, suspends or deactivates, and is for the " +
        "group Everyone.",
      "Okta does not document this endpoint, so unknown shapes are MANUAL.",
      'DISA: "If Okta Services rely on external directory services for user sourcing, this is not applicable". If no automation ' +
        "complies and a directory is in use, the result is MANUAL (`needs_review`).",
      "Left to a person: for other groups it is MANUAL (`partly_automated`) whether they have every user. If Okta masters no account, " +
        "attest the rule as Not Applicable.",
    ],
    fix: [
      "Open Workflow > Automations in the Admin Console and choose Add Automation",
      'Add the condition "User Inactivity in Okta" with 35 days, and a schedule that runs daily',
      'Under "Select group membership" choose the group Everyone',
      'Add the action "Change User lifecycle state in Okta" with the state Suspended',
      'Choose "Activate" at the top of the page',
    ],
    deciding_fields: [
      decide("user_lifecycle_policies", [
        "status",
        "conditions.people.users.inactivity",
        "conditions.people.groups.include",
      ]),
      decide("policyRules", ["status", "actions.updateUserLifecycle.targetStatus"]),
      decide("built_in_groups", ["type", "profile.name"], "which group is Everyone"),
      decide("group", ["profile.name"], "the names of others"),
      decide("password_policies", ["conditions.authProvider.provider"], "is a directory in use?"),
      ...directoryFields,
    ],
  },
  evaluate(
    { user_lifecycle_policies: policies, built_in_groups: builtIn, automation_groups: named, ...directory },
    { parameters, orgPolicy },
  ) {
    const drafts = judgeAutomations(policies, criteriaOf(parameters, [builtIn, named]));
    return drafts.map((draft) => unlessDirectory(draft, directory, orgPolicy));
  },
});

function criteriaOf(
  parameters: ParameterValues | undefined,
  groups: readonly (Evidence<JsonList> | undefined)[],
): AutomationCriteria {
  const names = groups.flatMap(entriesOf).flatMap((group) => {
    const name = readText(group, "profile.name");
    return typeof group["id"] === "string" && name.kind === "value" ? [[group["id"], name.value] as const] : [];
  });
  return {
    maxDays: limitOf(inactiveDays, parameters),
    everyone: everyoneIn(groups[0]),
    groupNames: new Map(names),
  };
}

function judgeAutomations(
  policies: Artifacts["user_lifecycle_policies"],
  criteria: AutomationCriteria,
): readonly FindingDraft[] {
  const expected = expectation(criteria.maxDays);
  const org = new Subject(null, expected);
  if (policies.state === "missing") return [org.missing(policies)];
  const automations = sortBy(
    policies.value.flatMap((policy) => automationsOf(policy, criteria)),
    ({ resource }) => JSON.stringify(resource),
  );
  const compliant = automations.filter(({ problems }) => problems.length === 0);
  const forAll = compliant.filter(({ isForEveryone }) => isForEveryone);
  if (forAll.length > 0) return forAll.map(({ resource, actual }) => new Subject(resource, expected).pass(actual));
  if (compliant.length > 0)
    return compliant.map(({ resource, actual }) => new Subject(resource, expected).pass(actual, uncovered));
  // Among rules that are missing there may be a compliant automation.
  const missing = sortBy(policies.value, ({ policy }) => showValue(policy["id"]))
    .map(({ rules }) => rules)
    .find((rules) => rules?.state === "missing");
  if (missing?.state === "missing") return [org.missing(missing)];
  const unread = automations.find(({ isLacking }) => !isLacking);
  if (unread !== undefined) return [new Subject(unread.resource, expected).unreadable(unread.problems.join(", "))];
  // The sort is stable, so of equals the first by name stays first.
  const [closest] = automations.toSorted((one, other) => one.problems.length - other.problems.length);
  if (closest === undefined) return [org.fail("no automation")];
  return [new Subject(closest.resource, expected).fail(closest.problems.join(", "))];
}

/** An automation is a policy with one of its rules; a policy without rules lacks the action. The console shows the policy. */
function automationsOf({ policy, rules }: PolicyWithRules, criteria: AutomationCriteria): readonly Automation[] {
  if (rules?.state !== "obtained") return [];
  const resource = resourceOf("automation", policy);
  const read = readAutomation(policy, criteria);
  if (rules.value.length === 0) return [read(null, resource)];
  return rules.value.map((rule) => {
    if (rules.value.length === 1) return read(rule, resource);
    const action = resourceOf("action", rule);
    const [id, name] = [`${resource.id}/${action.id}`, `${resource.name} / ${action.name}`];
    return read(rule, { ...resource, id, name });
  });
}
