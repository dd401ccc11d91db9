import type {
  CollectedArtifacts,
  Evidence,
  JsonList,
  JsonObject,
  MissingEvidence,
  PolicyWithRules,
} from "../artifacts.ts";
import { defineCheck, type FindingDraft } from "../check.ts";
import type { FindingResource } from "../../shared/report.ts";
import { createAutomationJudge, type JudgedAutomation } from "./reading/automations.ts";
import { activityOf } from "./reading/activity.ts";
import { shown } from "./reading/fields.ts";
import { inOrder } from "./reading/in_order.ts";
import { isDirectoryApp, isDirectoryPolicy } from "./reading/directory.ts";
import { fail, manual, manualForMissing, pass, unreadable, type Subject } from "./reading/drafts.ts";
import { nameOf, resourceOf } from "./reading/names.ts";

const expected = "an active automation that suspends or deactivates users after at most 35 days of inactivity";
const org: Subject = { resource: null, expected };

type DirectoryEvidence = "password_policies" | "apps";

export const userInactivityAutomationEnabled = defineCheck({
  name: "user_inactivity_automation_35d_enabled",
  artifacts: ["user_lifecycle_policies"],
  further: (artifacts): readonly DirectoryEvidence[] => directoryEvidenceNeeded(artifacts),
  explanation: {
    examines:
      "Whether an active automation disables accounts after at most 35 days without a sign-in. Where a directory sources the users, " +
      "disabling is the directory's task.",
    why:
      "An account that nobody uses is one that nobody misses when somebody else does. Whether the automation's groups hold everyone, " +
      "a person has to see, so this covers a part of the rule.",
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
  },
  evaluate({ user_lifecycle_policies: policies, ...directory }) {
    if (policies.state === "missing") return [manualForMissing(org, policies)];
    const seen = judgePolicies(policies.value);
    if (seen.compliant.length > 0)
      return seen.compliant.map((automation) => pass(subjectOf(automation), automation.actual));
    return [seen.undecided ?? judgeLacking(seen.automations, directory)];
  },
});

interface SeenAutomations {
  readonly automations: readonly JudgedAutomation[];
  readonly compliant: readonly JudgedAutomation[];
  /** Why nobody can say that none complies. */
  readonly undecided: FindingDraft | null;
}

/** More than any org has: policies that name one list of rules between them must not cost the product of both. */
const maxAutomations = 10_000;

function judgePolicies(policies: readonly PolicyWithRules[]): SeenAutomations {
  const count = policies.reduce((sum, { rules }) => sum + (rules?.state === "obtained" ? rules.value.length : 0), 0);
  if (count > maxAutomations) {
    return { automations: [], compliant: [], undecided: unreadable(org, `more than ${maxAutomations} automations`) };
  }
  const automations = inOrder(policies.flatMap(judgePolicy), ({ resource }) => JSON.stringify(resource));
  const unseen = inOrder(policies, ({ policy }) => shown(policy["id"]))
    .map(({ rules }) => rules)
    .find((rules) => rules?.state === "missing");
  const unread = automations.find((automation) => automation.kind === "unreadable");
  const compliant = automations.filter((automation) => automation.kind === "compliant");
  if (unseen?.state === "missing") return { automations, compliant, undecided: manualForMissing(org, unseen) };
  const undecided = unread === undefined ? null : unreadable(subjectOf(unread), unread.problems.join(", "));
  return { automations, compliant, undecided };
}

/** An automation is a policy with one of its rules; a policy without rules lacks the action. */
function judgePolicy({ policy, rules }: PolicyWithRules): readonly JudgedAutomation[] {
  if (rules?.state !== "obtained") return [];
  const judge = createAutomationJudge(policy);
  const actions: readonly (JsonObject | null)[] = rules.value.length > 0 ? rules.value : [null];
  return actions.map((rule) => judge(rule, automationResource(policy, rule, actions.length)));
}

/** Nothing once an automation complies or nobody can tell; then the cheaper evidence first. */
function directoryEvidenceNeeded(
  artifacts: Pick<CollectedArtifacts, "user_lifecycle_policies" | DirectoryEvidence>,
): readonly DirectoryEvidence[] {
  const { user_lifecycle_policies: policies, password_policies: passwords } = artifacts;
  if (policies?.state !== "obtained") return [];
  const seen = judgePolicies(policies.value);
  if (seen.compliant.length > 0 || seen.undecided !== null) return [];
  if (passwords === undefined) return ["password_policies"];
  return directoryPolicyOf(passwords) === null ? ["apps"] : [];
}

function judgeLacking(
  automations: readonly JudgedAutomation[],
  directory: Pick<CollectedArtifacts, DirectoryEvidence>,
): FindingDraft {
  const source = directoryOf(directory);
  if (source.kind === "in_use") {
    const note = "a directory that sources users has to disable them itself";
    return manual({ ...org, note }, "not_applicable", `no such automation, and ${source.what}`);
  }
  if (source.kind === "missing") return manualForMissing(org, source.evidence);
  // The sort is stable, so of equals the first by name stays first.
  const closest = automations.toSorted((one, other) => one.problems.length - other.problems.length)[0];
  if (closest === undefined) return fail(org, "no automation");
  return fail(subjectOf(closest), closest.problems.join(", "));
}

function subjectOf({ resource }: JudgedAutomation): Subject {
  return { resource, expected };
}

/** The console shows the policy; where it has several actions each is named too. */
function automationResource(policy: JsonObject, rule: JsonObject | null, actions: number): FindingResource {
  const resource = resourceOf("automation", policy);
  if (rule === null || actions === 1) return resource;
  const action = resourceOf("action", rule);
  return { ...resource, id: `${resource.id}/${action.id}`, name: `${resource.name} / ${action.name}` };
}

type DirectorySource =
  | { readonly kind: "in_use"; readonly what: string }
  | { readonly kind: "none" }
  | { readonly kind: "missing"; readonly evidence: MissingEvidence<JsonList> };

function directoryOf({
  password_policies: passwords,
  apps,
}: Pick<CollectedArtifacts, DirectoryEvidence>): DirectorySource {
  const policy = passwords === undefined ? null : directoryPolicyOf(passwords);
  if (policy !== null) return { kind: "in_use", what: `the password policy "${nameOf(policy)}" is a directory's` };
  const app = inOrder(listed(apps).filter(isDirectoryApp), nameOf)[0];
  if (app !== undefined) return { kind: "in_use", what: `the directory "${nameOf(app)}" is in use` };
  for (const evidence of [passwords, apps]) {
    if (evidence === undefined) return { kind: "missing", evidence: notAsked };
    if (evidence.state === "missing") return { kind: "missing", evidence };
  }
  return { kind: "none" };
}

const notAsked: MissingEvidence<JsonList> = {
  state: "missing",
  reason: "provider_error",
  detail: "Whether a directory sources the users was not asked",
  partial: null,
};

function directoryPolicyOf(policies: Evidence<JsonList>): JsonObject | null {
  return (
    inOrder(listed(policies), nameOf).find((policy) => activityOf(policy) === "active" && isDirectoryPolicy(policy)) ??
    null
  );
}

function listed(evidence: Evidence<JsonList> | undefined): JsonList {
  if (evidence === undefined) return [];
  return evidence.state === "obtained" ? evidence.value : (evidence.partial ?? []);
}
