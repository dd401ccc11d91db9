import {
  missing,
  type CollectedArtifacts,
  type JsonList,
  type MissingEvidence,
  type PolicyWithRules,
} from "../evidence/artifacts.ts";
import type { JsonObject } from "../../shared/json.ts";
import { defineCheck, type FindingDraft } from "./check.ts";
import type { FindingResource } from "../../shared/report.ts";
import { createAutomationEvaluator, type AutomationRule, type JudgedAutomation } from "./evaluating/automations.ts";
import { limitOf, type NumberParameter } from "./parameter.ts";
import { isUnidentified } from "./parsing/activity.ts";
import { showValue } from "./parsing/fields.ts";
import { sortBy, resourceOf } from "./parsing/names.ts";
import { directoryOf, type DirectoryEvidence, type DirectorySource } from "./parsing/directory.ts";
import { fail, manual, manualForMissing, pass, unreadable, type Subject } from "./evaluating/finding_drafts.ts";

const inactiveDays: NumberParameter = {
  kind: "number",
  name: "user_inactivity_days",
  unit: "days",
  stigValue: 35,
  stricter: "less",
  most: 3650,
};

function expectation(maxDays: number): string {
  return `an active automation that suspends or deactivates users after at most ${maxDays} days of inactivity`;
}

const uncovered = "Verify that the groups of the automation have every user";

export const userInactivityAutomationEnabled = defineCheck({
  name: "user_inactivity_automation_35d_enabled",
  artifacts: ["user_lifecycle_policies"],
  conditionalArtifacts: (artifacts, parameters): readonly DirectoryEvidence[] =>
    directoryEvidenceNeeded(artifacts, limitOf(inactiveDays, parameters)),
  parameters: [inactiveDays],
  explanation: {
    examines:
      "Whether an active automation disables accounts after at most 35 days without a sign-in. A directory has to disable " +
      "its own users. If every password policy is that of a directory, the rule is not applicable; otherwise it needs manual review.",
    why:
      "An unused account that is taken over goes unnoticed. The API does not show whether the automation's groups have every user, " +
      "so the check is partly automated.",
    fix: [
      "Open Workflow > Automations in the Admin Console and choose Add Automation",
      'Add the condition "User Inactivity in Okta" with 35 days, and a schedule that runs daily',
      'Under "Select group membership" choose the group Everyone',
      'Add the action "Change User lifecycle state in Okta" with the state Suspended',
      'Choose "Activate" at the top of the page',
    ],
    deciding_fields: [
      "GET /api/v1/policies?type=USER_LIFECYCLE: status, conditions.people.users.inactivity, conditions.people.groups.include",
      "GET /api/v1/policies/{id}/rules: status, actions.updateUserLifecycle.targetStatus",
      "GET /api/v1/policies?type=PASSWORD: conditions.authProvider.provider (is a directory in use?)",
      "GET /api/v1/apps: name, status (is a directory in use?)",
    ],
    left_to_person: uncovered,
  },
  evaluate({ user_lifecycle_policies: policies, ...directory }, { parameters }) {
    const maxDays = limitOf(inactiveDays, parameters);
    const expected = expectation(maxDays);
    const org: Subject = { resource: null, expected };
    if (policies.state === "missing") return [manualForMissing(org, policies)];
    const seen = judgePolicies(policies.value, maxDays);
    if (seen.compliant.length > 0)
      return seen.compliant.map((automation) =>
        pass({ resource: automation.resource, expected }, automation.actual, uncovered),
      );
    if (seen.missing !== null) return [manualForMissing(org, seen.missing)];
    return [judgeLacking(seen, directoryOf(directory), org)];
  },
});

interface SeenAutomations {
  readonly automations: readonly JudgedAutomation[];
  readonly compliant: readonly JudgedAutomation[];
  /** Missing rules, among which there may be a compliant automation. */
  readonly missing: MissingEvidence<JsonList> | null;
}

/** More than any org has: many policies that share one long list of rules must not cost the product of both. */
const maxAutomations = 10_000;

function judgePolicies(policies: readonly PolicyWithRules[], maxDays: number): SeenAutomations {
  const count = policies.reduce((sum, { rules }) => sum + (rules?.state === "obtained" ? rules.value.length : 0), 0);
  if (count > maxAutomations) {
    const problem = `The org names more than ${maxAutomations} automations, which this version does not evaluate`;
    return { automations: [], compliant: [], missing: missing("unreadable", problem) };
  }
  const automations = sortBy(
    policies.flatMap((policy) => judgePolicy(policy, maxDays)),
    ({ resource }) => JSON.stringify(resource),
  );
  // What is no automation has no rules that could be read.
  const unseen = sortBy(
    policies.filter(({ policy }) => !isUnidentified(policy)),
    ({ policy }) => showValue(policy["id"]),
  )
    .map(({ rules }) => rules)
    .find((rules) => rules?.state === "missing");
  const compliant = automations.filter((automation) => automation.kind === "compliant");
  return { automations, compliant, missing: unseen?.state === "missing" ? unseen : null };
}

/** An automation is a policy with one of its rules; a policy without rules lacks the action. */
function judgePolicy({ policy, rules }: PolicyWithRules, maxDays: number): readonly JudgedAutomation[] {
  if (rules?.state !== "obtained" && !isUnidentified(policy)) return [];
  const judge = createAutomationEvaluator(policy, maxDays);
  const actions: readonly AutomationRule[] =
    rules?.state === "obtained" && rules.value.length > 0 ? rules.value : ["none"];
  return actions.map((rule) => judge(rule, automationResource(policy, rule, actions.length)));
}

/** None once an automation complies or rules are missing; else the cheaper evidence first. */
function directoryEvidenceNeeded(
  artifacts: Pick<CollectedArtifacts, "user_lifecycle_policies" | DirectoryEvidence>,
  maxDays: number,
): readonly DirectoryEvidence[] {
  const { user_lifecycle_policies: policies, password_policies: passwords } = artifacts;
  if (policies?.state !== "obtained") return [];
  const seen = judgePolicies(policies.value, maxDays);
  if (seen.compliant.length > 0 || seen.missing !== null) return [];
  if (passwords === undefined) return ["password_policies"];
  return directoryOf({ password_policies: passwords }).kind === "all_users" ? [] : ["apps"];
}

/** A directory that may have to disable users comes before what is wrong with the automations. */
function judgeLacking({ automations }: SeenAutomations, source: DirectorySource, org: Subject): FindingDraft {
  if (source.kind === "all_users") {
    const note = "the directory has to disable its users itself";
    return manual({ ...org, note }, "not_applicable", `no such automation, and ${source.what}`);
  }
  if (source.kind === "in_use") {
    const note = "accounts that a directory does not manage need an Okta automation";
    return manual({ ...org, note }, "needs_review", `no such automation, and ${source.what}`);
  }
  const unread = automations.find((automation) => automation.kind === "unreadable");
  if (unread !== undefined) return unreadable({ ...org, resource: unread.resource }, unread.problems.join(", "));
  if (source.kind === "missing") return manualForMissing(org, source.evidence);
  if (source.kind === "unreadable") return unreadable(org, source.found);
  const note = source.hidesApps ? hiddenApps : {};
  // The sort is stable, so of equals the first by name stays first.
  const closest = automations.toSorted((one, other) => one.problems.length - other.problems.length)[0];
  if (closest === undefined) return fail({ ...org, ...note }, "no automation");
  return fail({ ...org, resource: closest.resource, ...note }, closest.problems.join(", "));
}

const hiddenApps = {
  note: "the administrator role of this run cannot see a directory that exists only as an app",
};

/** The console shows the policy; where it has several actions each is named too. */
function automationResource(policy: JsonObject, rule: AutomationRule, actions: number): FindingResource {
  const resource = resourceOf("automation", policy);
  if (rule === "none" || actions === 1) return resource;
  const action = resourceOf("action", rule);
  return { ...resource, id: `${resource.id}/${action.id}`, name: `${resource.name} / ${action.name}` };
}
