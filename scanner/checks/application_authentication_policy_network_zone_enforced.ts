import type { JsonObject } from "../../shared/json.ts";
import { availableValue, missing, type Evidence, type JsonList, type RulesById } from "../evidence/artifacts.ts";
import { defineCheck, type CheckContext, type FindingDraft } from "./check.ts";
import { accessPolicyId, unreadablePolicy } from "./parsing/access_policy.ts";
import { activityOf, isUnidentified, unknownActivity } from "./parsing/activity.ts";
import { withoutPolicy } from "./judging/built_in_app.ts";
import { fail, judgeList, manual, manualForMissing, pass, unreadable, type Subject } from "./judging/finding_drafts.ts";
import { readWord, showValue } from "./parsing/fields.ts";
import { sortBy, nameOf, resourceOf } from "./parsing/names.ts";
import { judgeNetwork, networkConditionOf } from "./judging/network_condition.ts";
import { memoize } from "./judging/memoize.ts";
import { isBuiltIn } from "./judging/rules.ts";
import { readZones, type Zones } from "./judging/zones.ts";

const expected = "an authentication policy whose rules all name network zones and whose catch-all rule denies";

export const applicationAuthenticationPolicyNetworkZoneEnforced = defineCheck({
  name: "application_authentication_policy_network_zone_enforced",
  artifacts: ["apps", "app_policy_rules", "network_zones"],
  explanation: {
    examines:
      "Whether every rule of each active app's authentication policy names network zones that restrict it, and the catch-all rule denies.",
    why:
      "An app is only as closed as its most open rule: one rule without a zone, or a catch-all that allows, lets in from anywhere. " +
      "A zone that is gone, inactive, a blocklist, or as wide as the internet restricts nothing. " +
      "A Read-Only Administrator sees just the apps assigned to the scanner's own app, so a full answer needs Super Administrator.",
    fix: [
      "Open Applications > Applications and each active app",
      'On the Sign On tab, under "User Authentication", choose View Policy Details',
      'Edit each rule and set "User\'s IP is" to the zones of the Access Control Policy',
      'Edit the Catch-all Rule and set "Access is" to Denied',
    ],
    deciding_fields: [
      "GET /api/v1/apps: status, _links.accessPolicy.href",
      "GET /api/v1/policies/{id}/rules: status, system, name",
      "GET /api/v1/policies/{id}/rules: conditions.network.connection, .include, .exclude",
      "GET /api/v1/policies/{id}/rules: actions.appSignOn.access (of the catch-all)",
      "GET /api/v1/zones: id, name, status, usage, type, gateways (and what a dynamic zone lists)",
    ],
  },
  evaluate({ apps, app_policy_rules: rules, network_zones: zones }, context) {
    const note = apps.state === "obtained" ? coverageNote(apps.value) : null;
    const judgePolicy = createPolicyEvaluator(rules, readZones(zones));
    return judgeList(apps, {
      expected,
      judgeItem: (app) => judgeApp(app, judgePolicy, { context, note }),
      judgeEmpty: (found) => [noActiveApp(found)],
    });
  },
});

interface AppContext {
  readonly context: CheckContext;
  readonly note: string | null;
}

function judgeApp(app: JsonObject, judgePolicy: PolicyEvaluator, { context, note }: AppContext): FindingDraft | null {
  const subject: Subject = { resource: resourceOf("app", app), expected, ...(note === null ? {} : { note }) };
  const activity = activityOf(app);
  if (activity === "inactive") return null;
  if (activity === "unknown") return unreadable(subject, unknownActivity(app));
  const policyId = accessPolicyId(app);
  if (policyId === unreadablePolicy) return unreadable(subject, `the policy link ${showValue(app["_links"])}`);
  if (policyId === null) return withoutPolicy(subject, context);
  const draft = judgePolicy(policyId);
  const notes = [draft.note, subject.note].filter((text) => text !== undefined);
  return { ...draft, ...subject, ...(notes.length === 0 ? {} : { note: notes.join("; ") }) };
}

/** The verdict on a policy, whatever app is bound to it: thousands of apps may share one. */
type PolicyEvaluator = (policyId: string) => FindingDraft;

function createPolicyEvaluator(allRules: Evidence<RulesById>, zones: Zones): PolicyEvaluator {
  return memoize((policyId) => {
    const draft = judgePolicy(rulesOf(policyId, allRules), zones);
    // Where other evidence is missing, a policy's own rules can prove a FAIL, but no PASS.
    if (draft.status !== "PASS" || allRules.state === "obtained") return draft;
    return manualForMissing({ resource: null, expected }, allRules);
  });
}

function judgePolicy(rules: Evidence<JsonList> | null, zones: Zones): FindingDraft {
  const subject: Subject = { resource: null, expected };
  if (rules === null) return manual(subject, "provider_error", "no answer about its policy's rules");
  const { draft, proven } = judgeRules(subject, availableValue(rules) ?? [], zones);
  if (rules.state === "obtained") return draft;
  // A part of the rules can only prove that one of them is open, not that one is absent.
  return proven ?? manualForMissing(subject, rules);
}

/** A policy's own evidence, whatever is missing of others; null where it was not requested. */
function rulesOf(policyId: string, all: Evidence<RulesById>): Evidence<JsonList> | null {
  const byId = availableValue(all) ?? {};
  const rules = Object.hasOwn(byId, policyId) ? byId[policyId] : undefined;
  if (rules !== undefined || all.state === "obtained") return rules ?? null;
  return missing(all.reason, all.detail);
}

interface RulesVerdict {
  readonly draft: FindingDraft;
  /** A FAIL that these rules prove, whatever other rules there are. */
  readonly proven: FindingDraft | null;
}

function judgeRules(subject: Subject, rules: JsonList, zones: Zones): RulesVerdict {
  const perhapsActive = sortBy(rules, (rule) => (isUnidentified(rule) ? "" : nameOf(rule))).filter(
    (rule) => activityOf(rule) !== "inactive",
  );
  const drafts = perhapsActive.map((rule) => judgeRule(subject, rule, zones));
  const proven = drafts.find((draft) => draft?.status === "FAIL") ?? null;
  if (proven !== null) return { draft: proven, proven };
  const unclear = drafts.find((draft) => draft !== null);
  if (unclear !== undefined && unclear !== null) return { draft: unclear, proven };
  const custom = perhapsActive.filter((rule) => isBuiltIn(rule) === false);
  if (perhapsActive.length === 0) return { draft: fail(subject, "no active rule in its policy"), proven };
  if (custom.length === 0) return { draft: fail(subject, "no active rule but the catch-all"), proven };
  if (custom.length === perhapsActive.length) return { draft: fail(subject, "no active catch-all rule"), proven };
  const restricted = custom.length === 1 ? "1 rule with its zones" : `${custom.length} rules with their zones`;
  return { draft: pass(subject, `${restricted} and a catch-all that denies`), proven };
}

/** Null where the rule complies. */
function judgeRule(subject: Subject, rule: JsonObject, zones: Zones): FindingDraft | null {
  if (isUnidentified(rule)) return unreadable(subject, `the rule ${showValue(rule)}`);
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
  const access = readWord(rule, "actions.appSignOn.access", ["ALLOW", "DENY"]);
  if (access.kind === "unreadable") return unreadable(subject, `the access ${access.found} of ${name}`);
  if (access.kind === "value" && access.value === "DENY") return null;
  return fail(subject, `access ${access.kind === "value" ? access.value : "not set"} in the catch-all ${name}`);
}

function judgeCustomRule(subject: Subject, rule: JsonObject, zones: Zones): FindingDraft | null {
  const draft = judgeNetwork(subject, networkConditionOf(rule, zones), ` in rule "${nameOf(rule)}"`);
  return draft.status === "PASS" ? null : draft;
}

/** Only a Super Administrator sees the Admin Console's own app: a list without it is not complete. */
function coverageNote(apps: JsonList): string | null {
  if (apps.some((app) => app["name"] === "saasure")) return null;
  return `only the ${apps.length} ${apps.length === 1 ? "app" : "apps"} visible to the administrator role of this run`;
}

function noActiveApp(apps: JsonList): FindingDraft {
  const isRestricted = coverageNote(apps) !== null;
  const note = isRestricted ? "a role below Super Administrator sees only the apps assigned to it" : undefined;
  const subject: Subject = { resource: null, expected, ...(note === undefined ? {} : { note }) };
  return manual(subject, isRestricted ? "missing_role" : "needs_review", "no active app");
}
