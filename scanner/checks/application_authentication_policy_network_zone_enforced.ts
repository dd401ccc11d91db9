import { decide, networkFields, zoneFields } from "./deciding_fields.ts";
import { appZoneUse } from "../org_policy/facts.ts";
import type { JsonObject } from "../../shared/json.ts";
import {
  availableValue,
  entriesOf,
  missing,
  type Evidence,
  type JsonList,
  type RulesById,
} from "../evidence/artifacts.ts";
import { defineCheck, type CheckContext, type FindingDraft } from "./check.ts";
import { accessPolicyId, unreadablePolicy } from "./parsing/access_policy.ts";
import { activityOf, unknownActivity } from "./parsing/activity.ts";
import { withoutPolicy } from "./evaluating/built_in_app.ts";
import { describeApps, isOktasOwn, kindWithoutSignIn, noActiveApp } from "./evaluating/listed_apps.ts";
import {
  fail,
  judgeList,
  manual,
  manualForMissing,
  pass,
  unreadable,
  withCause,
  withPartialCoverage,
  type Subject,
} from "./evaluating/finding_drafts.ts";
import { readWord, showValue } from "./parsing/fields.ts";
import { sortBy, nameOf, resourceOf } from "./parsing/names.ts";
import { judgeNetwork, networkConditionOf } from "./evaluating/network_condition.ts";
import { memoize } from "./evaluating/memoize.ts";
import { accessOf, isBuiltIn } from "./parsing/rule_order.ts";
import { readZones, type Zones } from "./evaluating/zones.ts";
import { compareZones, notCovered, withDocument, type Comparison } from "../org_policy/comparison.ts";
import type { OrgPolicy } from "../org_policy/document.ts";

const expected = "an authentication policy whose rules all name network zones and whose catch-all rule denies";
const uncovered = "Verify that the network zones include all necessary allow and block lists";

export const applicationAuthenticationPolicyNetworkZoneEnforced = defineCheck({
  name: "application_authentication_policy_network_zone_enforced",
  artifacts: ["apps", "app_policy_rules", "network_zones"],
  // Names the policies in the findings.
  conditionalArtifacts: (): readonly "access_policies"[] => ["access_policies"],
  explanation: {
    examines:
      "Whether every rule that lets people in to an active app names network zones that restrict it, and the catch-all rule denies.",
    why: "One rule without a zone, or a catch-all that allows, opens an app to every network.",
    disa: "If any application is not configured with network zones, this is a finding.",
    rests_on: [
      "PASS: with an attestation or the organization's document. For every active app, the policy has an active allowing rule besides " +
        "the catch-all, each allowing rule names zones that restrict, and the catch-all denies. A missing catch-all, no other rule, and " +
        "an allowing catch-all are FAIL.",
      "A rule that denies needs no zone; a policy with only such rules is MANUAL (`needs_review`).",
      "Service apps, and apps whose `signOnMode` is null (Active Directory, CSV, HR sources), are left out, counted and named by kind: " +
        "nobody signs in to them. Findings mark Okta's own apps.",
      'Left to a person: whether the list "includes all necessary allow or block lists". All apps show only to a Super Administrator; ' +
        "if Okta hides its first-party apps, the finding says how many were seen, and an org without another app is MANUAL " +
        "(`partly_automated`) too.",
    ],
    fix: [
      "Open Security > App sign-in policies (Authentication Policies) and each policy that the findings name",
      'Edit each rule and set "User\'s IP is" (DISA: "User is") to the zones of the Access Control Policy',
      'Edit the Catch-all Rule and set "Access is" to Denied',
    ],
    deciding_fields: [
      decide("apps", ["status", "_links.accessPolicy.href", "signOnMode", "settings.oauthClient.application_type"]),
      decide("apps", ["features"], "for the kinds of apps that are left out"),
      decide("policyRules", ["status", "system", "name", ...networkFields, "actions.appSignOn.access"]),
      zoneFields,
    ],
    left_to_person: uncovered,
  },
  evaluate({ apps, app_policy_rules: rules, network_zones: zones, access_policies: named }, context) {
    const seen = apps.state === "obtained" ? describeApps(apps.value) : { note: {}, hidden: null };
    const evidence = { rules, zones: readZones(zones), names: policyNames(named) };
    const judgePolicy = createPolicyEvaluator(evidence);
    const comparePolicy = createComparison(evidence, entriesOf(apps), context.orgPolicy);
    const judge = (app: JsonObject) => {
      const draft = withPartialCoverage(judgeApp(app, judgePolicy, { context, note: seen.note }), [uncovered]);
      return draft === null ? null : withDocument(draft, context.orgPolicy, () => comparePolicy(app));
    };
    return judgeList(apps, {
      expected,
      judgeItem: (app) => withPartialCoverage(judge(app), [seen.hidden]),
      judgeEmpty: (found) => [noActiveApp(found, seen, expected)],
    });
  },
});

interface AppContext {
  readonly context: CheckContext;
  readonly note: Pick<Subject, "note">;
}

function judgeApp(
  app: JsonObject,
  judgePolicy: PolicyEvaluator,
  { context, note: leftOut }: AppContext,
): FindingDraft | null {
  const subject: Subject = { resource: resourceOf("app", app), expected, ...leftOut };
  const activity = activityOf(app);
  if (activity === "inactive" || kindWithoutSignIn(app) !== null) return null;
  if (activity === "unknown") return unreadable(subject, unknownActivity(app));
  const policyId = accessPolicyId(app);
  if (policyId === unreadablePolicy) return unreadable(subject, `the policy link ${showValue(app["_links"])}`);
  if (policyId === null) return withoutPolicy(subject, context);
  const draft = judgePolicy(policyId);
  const notes = [isOktasOwn(app) ? "this is one of Okta's own apps" : undefined, draft.note, subject.note];
  const note = notes.filter((text) => text !== undefined).join("; ");
  return { ...draft, ...subject, ...(note === "" ? {} : { note }) };
}

function policyNames(policies: Evidence<JsonList> | undefined): ReadonlyMap<unknown, string> {
  const listed = entriesOf(policies);
  return new Map(listed.map((policy) => [policy["id"], nameOf(policy)]));
}

/** The verdict on a policy, no matter what app is bound to it: thousands of apps may share one. */
type PolicyEvaluator = (policyId: string) => FindingDraft;

interface PolicyEvidence {
  readonly rules: Evidence<RulesById>;
  readonly zones: Zones;
  /** Names by id, as far as they are known. */
  readonly names: ReadonlyMap<unknown, string>;
}

function createPolicyEvaluator({ rules: allRules, zones, names }: PolicyEvidence): PolicyEvaluator {
  return memoize((policyId) => {
    const verdict = judgePolicy(rulesOf(policyId, allRules), zones);
    // A policy's own rules can prove a FAIL, but no PASS, if other evidence is missing.
    if (verdict.status === "PASS" && allRules.state === "missing")
      return manualForMissing({ resource: null, expected }, allRules);
    const draft = { ...verdict, actual: `${verdict.actual}, in the policy "${names.get(policyId) ?? policyId}"` };
    return draft.status === "FAIL" ? { cause: { type: "policy", id: policyId }, ...draft } : draft;
  });
}

/**
 * Compares the zones of an app's rules with the document's: allowed is what a rule lets in from, denied what each of these
 * rules leaves out, or another one denies. Thousands of apps may share one policy, and one entry.
 */
function createComparison(
  { rules, zones, names }: PolicyEvidence,
  apps: JsonList,
  policy: OrgPolicy | undefined,
): (app: JsonObject) => Comparison {
  if (policy?.apps === undefined) return () => notCovered;
  const labels = Map.groupBy(apps, nameOf);
  const byLabel = new Map(policy.apps.map((entry) => [entry.app, entry]));
  const byPolicy = new Map(policy.apps.map((entry) => [entry.policy, entry]));
  const usesOf = memoize((policyId: string) => appZoneUse(entriesOf(rulesOf(policyId, rules) ?? noRules), zones));
  return (app) => {
    const policyId = accessPolicyId(app);
    if (typeof policyId !== "string") return notCovered;
    const label = nameOf(app);
    const named = byLabel.get(label);
    const { length } = labels.get(label) ?? [];
    if (named !== undefined && length > 1)
      return { kind: "doubtful", why: `the org has ${length} apps with the label "${label}"` };
    const policyName = names.get(policyId);
    const entry = named ?? (policyName === undefined ? undefined : byPolicy.get(policyName)) ?? byLabel.get("*");
    return entry === undefined ? notCovered : compareZones(entry, usesOf(policyId), zones);
  };
}

const noRules = missing<JsonList>("provider_error", "The rules were not asked for.");

function judgePolicy(rules: Evidence<JsonList> | null, zones: Zones): FindingDraft {
  const subject: Subject = { resource: null, expected };
  if (rules === null) return manual(subject, "provider_error", "no answer about its policy's rules");
  const { draft, proven } = judgeRules(subject, entriesOf(rules), zones);
  if (rules.state === "obtained") return draft;
  // A part of the rules can only prove that one of them is open, not that one is absent.
  return proven ?? manualForMissing(subject, rules);
}

/** A policy's own evidence, no matter what is missing of others; null where it was not requested. */
function rulesOf(policyId: string, all: Evidence<RulesById>): Evidence<JsonList> | null {
  const byId = availableValue(all) ?? {};
  const rules = Object.hasOwn(byId, policyId) ? byId[policyId] : undefined;
  if (rules !== undefined || all.state === "obtained") return rules ?? null;
  return missing(all.reason, all.detail);
}

interface RulesVerdict {
  readonly draft: FindingDraft;
  /** A FAIL that these rules prove, no matter what other rules there are. */
  readonly proven: FindingDraft | null;
}

function judgeRules(subject: Subject, rules: JsonList, zones: Zones): RulesVerdict {
  const perhapsActive = sortBy(rules, nameOf).filter((rule) => activityOf(rule) !== "inactive");
  const drafts = perhapsActive.map((rule) => judgeRule(subject, rule, zones));
  const proven = drafts.find((draft) => draft?.status === "FAIL") ?? null;
  const custom = perhapsActive.filter((rule) => isBuiltIn(rule) === false);
  const lacking = lackingIn(perhapsActive, custom);
  if (proven !== null) {
    const open = perhapsActive.filter((_, index) => drafts[index]?.status === "FAIL");
    // One rule is what decides, where it is the only one to change.
    const [rule] = open.length === 1 && lacking === null ? open : [];
    return { draft: rule === undefined ? proven : withCause(proven, "policy_rule", rule), proven };
  }
  if (lacking !== null) return { draft: fail(subject, lacking), proven };
  const unclear = drafts.find((draft) => draft !== null);
  if (unclear !== undefined && unclear !== null) return { draft: unclear, proven };
  const zoned = custom.filter((rule) => accessOf(rule, accessPath) === "ALLOW");
  if (zoned.length === 0)
    return {
      draft: manual(subject, "needs_review", "only rules that deny, and no rule names a zone to allow"),
      proven,
    };
  const restricted = zoned.map((rule) => `rule "${nameOf(rule)}" ${networkConditionOf(rule, zones).actual}`);
  const first = restricted.slice(0, 5).join("; ");
  const others = restricted.length > 5 ? ` and ${restricted.length - 5} more` : "";
  return { draft: pass(subject, `${first}${others}, and a catch-all that denies`), proven };
}

/** Which rule the policy has to have besides; proven where the status and the place of each rule can be read. */
function lackingIn(rules: JsonList, custom: JsonList): string | null {
  if (!rules.every((rule) => activityOf(rule) === "active" && isBuiltIn(rule) !== null)) return null;
  if (rules.length === 0) return "no active rule";
  if (custom.length === 0) return "no active rule but the catch-all";
  return custom.length === rules.length ? "no active catch-all rule" : null;
}

const accessPath = "actions.appSignOn.access";

/** Null where the rule complies. */
function judgeRule(subject: Subject, rule: JsonObject, zones: Zones): FindingDraft | null {
  const name = `rule "${nameOf(rule)}"`;
  const isCatchAll = isBuiltIn(rule);
  if (activityOf(rule) === "unknown") return unreadable(subject, `the status ${showValue(rule["status"])} of ${name}`);
  if (isCatchAll !== null) return isCatchAll ? judgeCatchAll(subject, rule) : judgeCustomRule(subject, rule, zones);
  const asCustom = judgeCustomRule(subject, rule, zones);
  // A FAIL in either role is one.
  if (asCustom?.status === "FAIL" && judgeCatchAll(subject, rule)?.status === "FAIL") return asCustom;
  return unreadable(subject, `${name} that may be the catch-all`);
}

function judgeCatchAll(subject: Subject, rule: JsonObject): FindingDraft | null {
  const name = `rule "${nameOf(rule)}"`;
  const access = readWord(rule, accessPath, ["ALLOW", "DENY"]);
  if (access.kind === "unreadable") return unreadable(subject, `the access ${access.found} of ${name}`);
  if (access.kind === "value" && access.value === "DENY") return null;
  return fail(subject, `access ${access.kind === "value" ? access.value : "not set"} in the catch-all ${name}`);
}

/** A rule that denies lets nobody in, so it needs no zone. */
function judgeCustomRule(subject: Subject, rule: JsonObject, zones: Zones): FindingDraft | null {
  const access = accessOf(rule, accessPath);
  if (access === "DENY") return null;
  if (access === "unknown") return unreadable(subject, `the access of rule "${nameOf(rule)}"`);
  const draft = judgeNetwork(subject, networkConditionOf(rule, zones), ` in rule "${nameOf(rule)}"`);
  return draft.status === "PASS" ? null : draft;
}
