import { countOf } from "../../shared/outcome_text.ts";
import { decide, defineCheck } from "./check.ts";
import { entriesOf, type Evidence, type JsonList, type PolicyWithRules } from "../evidence/artifacts.ts";
import type { JsonObject } from "../../shared/json.ts";
import { limitOf, most, type ParameterValues } from "./parameter.ts";
import { explicitActivityOf, unknownActivity } from "./parsing/activity.ts";
import { readNumber, readObject, readText, readTexts, showValue } from "./parsing/fields.ts";
import { listTexts, nounFor, resourceOf, sortBy } from "./parsing/names.ts";
import {
  directoryEvidenceFor,
  directoryFields,
  unlessDirectory,
  type DirectoryEvidence,
} from "./evaluating/directory.ts";
import { everyoneIn, restrictionsOf } from "./parsing/policy_rules.ts";
import { Subject, withNote, type FindingDraft } from "./evaluating/finding_drafts.ts";

const inactiveDays = most("user_inactivity_days", "days", 35, { max: 3650 });

const uncovered = "Verify that the groups of the automation have every user";

export const userInactivityAutomationEnabled = defineCheck({
  name: "user_inactivity_automation_35d_enabled",
  artifacts: ["user_lifecycle_policies"],
  conditionalArtifacts: (
    { user_lifecycle_policies: policies, built_in_groups: groups },
    { parameters, orgPolicy },
  ): readonly (DirectoryEvidence | "built_in_groups" | "automation_groups")[] => {
    const drafts = judgeAutomations(policies, criteriaOf(parameters, [groups]));
    const directory = directoryEvidenceFor(drafts, orgPolicy, mayFail);
    const [passing] = drafts.filter((draft) => draft.status === "PASS");
    if (passing === undefined) return directory;
    if (groups === undefined) return [...directory, "built_in_groups"];
    return "uncovered" in passing ? [...directory, "automation_groups"] : directory;
  },
  parameters: [inactiveDays],
  decidingFields: [
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
  evaluate(
    { user_lifecycle_policies: policies, built_in_groups: builtIn, automation_groups: named, ...directory },
    { parameters, orgPolicy },
  ) {
    const drafts = judgeAutomations(policies, criteriaOf(parameters, [builtIn, named]));
    const unread = builtIn?.state === "missing" ? builtIn.detail : undefined;
    const noted = drafts.map((draft) => ("uncovered" in draft ? withNote(draft, unread) : draft));
    return unlessDirectory(noted, directory, orgPolicy, mayFail);
  },
});

/** An automation that cannot be read is not known to comply, and where a directory is in use the rule may be the directory's. */
function mayFail({ status, resource, ...draft }: FindingDraft): boolean {
  return status === "FAIL" || (resource !== null && "reason" in draft && draft.reason === "unreadable");
}

function criteriaOf(parameters: ParameterValues | undefined, groups: readonly (Evidence<JsonList> | undefined)[]) {
  const nameOfGroup = (group: JsonObject) => readText(group, "profile.name").value;
  return {
    maxDays: limitOf(inactiveDays, parameters),
    everyone: everyoneIn(groups[0]),
    /** Names by id, as far as they are known. */
    groupNames: new Map(groups.flatMap(entriesOf).map((group) => [group["id"], nameOfGroup(group)])),
  };
}

function judgeAutomations(
  policies: Evidence<readonly PolicyWithRules[]>,
  criteria: AutomationCriteria,
): readonly FindingDraft[] {
  const expected = `an active automation that suspends or deactivates users after at most ${countOf(criteria.maxDays, "day")} of inactivity`;
  const org = new Subject(null, expected);
  if (policies.state === "missing") return [org.missing(policies)];
  const automations = sortBy(
    policies.value.flatMap((policy) => automationsOf(policy, criteria)),
    ({ resource }) => JSON.stringify(resource),
  );
  const compliant = automations.filter((one) => problemsOf(one).length === 0);
  const forAll = compliant.filter(({ isForEveryone }) => isForEveryone);
  const passing = forAll.length > 0 ? forAll : compliant;
  const left = forAll.length > 0 ? undefined : uncovered;
  if (passing.length > 0)
    return passing.map((one) => new Subject(one.resource, expected).pass(textOf(one.pieces), left));
  // Rules that could not be read may be those of a compliant automation.
  const missing = sortBy(policies.value, ({ policy }) => showValue(policy["id"]))
    .map(({ rules }) => rules)
    .find((rules) => rules?.state === "missing");
  if (missing?.state === "missing") return [org.missing(missing)];
  const unread = automations.find(({ pieces }) => !pieces.some(([kind]) => kind === "lacking"));
  if (unread !== undefined) return [new Subject(unread.resource, expected).unreadable(textOf(problemsOf(unread)))];
  // The sort is stable, so of equals the first by name stays first.
  const [closest] = automations.toSorted((one, other) => problemsOf(one).length - problemsOf(other).length);
  if (closest === undefined) return [org.fail("no automation")];
  return [new Subject(closest.resource, expected).fail(textOf(problemsOf(closest)))];
}

function problemsOf({ pieces }: Automation): readonly Piece[] {
  return pieces.filter(([kind]) => kind !== "fine");
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map(([, text]) => text).join(", ");
}

/** A USER_LIFECYCLE policy (condition and groups) with one of its rules (the action). */
type Automation = ReturnType<typeof automationsOf>[number];

type AutomationCriteria = ReturnType<typeof criteriaOf>;

/** A part of what the rule asks for, in words that follow "found". `lacking` is proven, no matter what else cannot be read. */
type Piece = readonly [kind: "fine" | "lacking" | "unreadable", text: string];

/** A policy without rules lacks the action. The console shows the policy. Its own pieces are read once for all its rules. */
function automationsOf({ policy, rules }: PolicyWithRules, criteria: AutomationCriteria) {
  if (rules?.state !== "obtained") return [];
  const ofPolicy = [
    activityPiece("automation", policy),
    inactivityPiece(policy, criteria.maxDays),
    groupsPiece(policy, criteria.groupNames),
  ];
  const isForAll = isForEveryone(policy, criteria.everyone);
  const whole = resourceOf("automation", policy);
  const automation = (ofRule: readonly Piece[], resource = whole) => ({
    resource,
    /** True: its group is known to be the one of every user. */
    isForEveryone: isForAll,
    pieces: [...ofPolicy, ...ofRule],
  });
  if (rules.value.length === 0) return [automation([["lacking", "no action"]])];
  return rules.value.map((rule) => {
    const pieces = [activityPiece("action", rule), targetPiece(rule)];
    if (rules.value.length === 1) return automation(pieces);
    const { id, name } = resourceOf("action", rule);
    return automation(pieces, { ...whole, id: `${whole.id}/${id}`, name: `${whole.name} / ${name}` });
  });
}

function activityPiece(what: string, object: JsonObject): Piece {
  const activity = explicitActivityOf(object);
  if (activity === "active") return ["fine", `an active ${what}`];
  if (activity === "inactive") return ["lacking", `an inactive ${what}`];
  return ["unreadable", `${unknownActivity(object)} of the ${what}`];
}

const hoursPerUnit: ReadonlyMap<string, number> = new Map(Object.entries({ HOUR: 1, DAY: 24, WEEK: 168 }));

function inactivityPiece(policy: JsonObject, maxDays: number): Piece {
  const path = "conditions.people.users.inactivity";
  const number = readNumber(policy, `${path}.number`);
  const unit = readText(policy, `${path}.unit`);
  if (number.kind === "unreadable") return ["unreadable", `the inactivity ${number.found}`];
  if (unit.kind === "unreadable") return ["unreadable", `the inactivity unit ${unit.found}`];
  if (number.kind === "absent") return ["lacking", "no inactivity condition"];
  if (unit.kind === "absent") return ["lacking", "no unit of the inactivity condition"];
  const hours = hoursPerUnit.get(unit.value.toUpperCase().replace(/S$/, ""));
  if (hours === undefined) return ["unreadable", `the inactivity unit ${showValue(unit.value)}`];
  const isMet = number.value > 0 && number.value * hours <= maxDays * 24;
  return [
    isMet ? "fine" : "lacking",
    `inactivity of ${countOf(number.value, unit.value.toLowerCase().replace(/s$/, ""))}`,
  ];
}

function isForEveryone(policy: JsonObject, everyone: AutomationCriteria["everyone"]): boolean {
  const people = readObject(policy, "conditions.people");
  const users = readObject(policy, "conditions.people.users");
  if (everyone === null || people.kind !== "value" || users.kind !== "value") return false;
  const { inactivity: _inactivity, ...limits } = users.value;
  return restrictionsOf({ conditions: { people: { ...people.value, users: limits } } }, everyone).size === 0;
}

function groupsPiece(policy: JsonObject, names: AutomationCriteria["groupNames"]): Piece {
  const groups = readTexts(policy, "conditions.people.groups.include");
  if (groups.kind === "unreadable") return ["unreadable", `the groups ${groups.found}`];
  if (groups.kind === "absent" || groups.value.length === 0) return ["lacking", "no groups"];
  const texts = groups.value.map((id) => (typeof names.get(id) === "string" ? `"${names.get(id)}"` : id));
  return ["fine", `the ${nounFor(texts, "group")} ${listTexts(texts)}`];
}

const disablingStatuses = "SUSPENDED DEACTIVATED DEPROVISIONED".split(" ");
// The other user states: known, and not compliant.
const otherStatuses = "ACTIVE STAGED PROVISIONED RECOVERY LOCKED_OUT PASSWORD_EXPIRED UNSUSPENDED".split(" ");

function targetPiece(rule: JsonObject): Piece {
  const target = readText(rule, "actions.updateUserLifecycle.targetStatus");
  if (target.kind === "unreadable") return ["unreadable", `the target status ${target.found}`];
  if (target.kind === "absent") return ["lacking", "no change of the user's status"];
  const word = target.value.toUpperCase();
  if (disablingStatuses.includes(word)) return ["fine", `the target status ${word}`];
  if (otherStatuses.includes(word)) return ["lacking", `the target status ${word}`];
  return ["unreadable", `the target status ${showValue(target.value)}`];
}
