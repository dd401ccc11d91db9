import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { availableValue, type BuiltInApp, type Evidence, type JsonList } from "../../evidence/artifacts.ts";
import { fail } from "../../checks/judging/finding_drafts.ts";
import { networkConditionOf } from "../../checks/judging/network_condition.ts";
import { isBuiltIn, judgeByFirstRule } from "../../checks/judging/rules.ts";
import { accessPolicyId } from "../../checks/parsing/access_policy.ts";
import { activityOf } from "../../checks/parsing/activity.ts";
import { showValue } from "../../checks/parsing/fields.ts";
import { listTexts, nameOf } from "../../checks/parsing/names.ts";
import { readAppRule, constraintsOf } from "./app_rule_fields.ts";
import { allowedZones, freeName, restrictNetwork, zonesOf } from "./network_zones.ts";
import { listed, type Failed, type PlanDraft } from "../plan_draft.ts";
import { addressOf, change, identifier, type ResourceDraft, type Value } from "../terraform.ts";

const type = "okta_app_signon_policy_rule";
const zoneCheck = "application_authentication_policy_network_zone_enforced";
const consoleChecks = [
  "application_admin_console_mfa_required",
  "application_admin_console_phishing_resistant_authentication",
];
const dashboardChecks = [
  "application_dashboard_mfa_required",
  "application_dashboard_phishing_resistant_authentication",
];

export const appChecks: readonly string[] = [...consoleChecks, ...dashboardChecks, zoneCheck];

/** The rules about apps: what the deciding rule of an app's policy demands of users, and from where its rules let them in. */
export function planAppRules(draft: PlanDraft): void {
  planVerification(draft, consoleChecks, draft.artifacts.admin_console_app);
  planVerification(draft, dashboardChecks, draft.artifacts.dashboard_app);
  // After that: a new first rule takes over what the deciding rule demands.
  planZones(draft);
}

function planVerification(draft: PlanDraft, checks: readonly string[], app: Evidence<BuiltInApp> | undefined): void {
  const failed = draft.failedOf(checks);
  if (failed.length === 0) return;
  const found = app === undefined ? null : availableValue(app);
  const policyId = found?.app === null || found === null ? null : accessPolicyId(found.app);
  if (typeof policyId !== "string") return draft.byHand(failed, "the app has no authentication policy");
  const [rule, ...equals] = decidingRules(found?.rules === null || found === null ? [] : listed(found.rules));
  if (rule === undefined) return draft.byHand(failed, "its authentication policy has no active rule");
  if (equals.length > 0) return draft.byHand(failed, "several active rules of its policy come first");
  const constraints = constraintsOf(rule);
  if (constraints === null) {
    return draft.byHand(
      failed,
      "the rule demands authentication method chains: which others they become, a person has to decide",
    );
  }
  const resource = importRule(draft, { policyId, rule, failed });
  if (resource === null) return;
  for (const item of failed) {
    if (item.check.endsWith("_mfa_required")) {
      const was = resource.attributes.get("factor_mode")?.value;
      change(resource.attributes, "factor_mode", "2FA", { rules: [item.rule], was: `was ${showValue(was)}` });
    } else {
      const was = constraints.length === 0 ? "had no constraints" : "a phished factor was enough";
      change(resource.attributes, "constraints", phishingResistant(constraints), { rules: [item.rule], was });
    }
  }
  const who = checks === consoleChecks ? "administrator" : "user";
  resource.warnings.add(
    `Users without such a factor are locked out. Check that every ${who} has enrolled one, ` +
      `you first${checks === consoleChecks ? ", and keep a session of a Super Administrator open while you apply" : ""}.`,
  );
}

/** The same constraints, each with a possession factor that cannot be phished. */
function phishingResistant(constraints: readonly JsonObject[]): Value {
  const each = constraints.length === 0 ? [{}] : constraints;
  return each.map((constraint) => {
    const possession = isJsonObject(constraint["possession"]) ? constraint["possession"] : {};
    const value = { ...constraint, possession: { ...possession, required: true, phishingResistant: "REQUIRED" } };
    return { kind: "json", value };
  });
}

function planZones(draft: PlanDraft): void {
  const failed = draft.failedOf([zoneCheck]);
  const byPolicy = new Map<string, Failed[]>();
  for (const item of failed) {
    const app = listed(draft.artifacts.apps).find(({ id }) => id === item.finding.resource.id);
    const policyId = app === undefined ? null : accessPolicyId(app);
    if (typeof policyId !== "string") draft.byHand([item], "the app has no authentication policy");
    else byPolicy.set(policyId, [...(byPolicy.get(policyId) ?? []), item]);
  }
  for (const [policyId, ofPolicy] of byPolicy) planPolicyZones(draft, policyId, ofPolicy);
}

function planPolicyZones(draft: PlanDraft, policyId: string, failed: readonly Failed[]): void {
  const all =
    draft.artifacts.app_policy_rules === undefined ? {} : (availableValue(draft.artifacts.app_policy_rules) ?? {});
  const rules = Object.hasOwn(all, policyId) ? all[policyId] : undefined;
  const active = listed(rules).filter((rule) => activityOf(rule) === "active");
  const custom = active.filter((rule) => isBuiltIn(rule) === false);
  const catchAll = active.find((rule) => isBuiltIn(rule) === true);
  if (catchAll === undefined) return draft.byHand(failed, "its policy has no active catch-all rule");
  const zones = zonesOf(draft);
  const open = custom.filter((rule) => networkConditionOf(rule, zones).kind !== "zoned");
  const problem = [...open, catchAll]
    .map((rule) => readAppRule(rule, isBuiltIn(rule) === true).problem)
    .find((text) => text !== null);
  if (problem !== undefined && problem !== null) return draft.byHand(failed, problem);
  const restricted: (ResourceDraft | null)[] = open.map((rule) => importRule(draft, { policyId, rule, failed }));
  const closed = importRule(draft, { policyId, rule: catchAll, failed });
  if (closed === null || restricted.includes(null)) return;
  if (custom.length === 0)
    restricted.push(newRule(draft, { policyId, from: closed, taken: listed(rules).map(nameOf), failed }));
  const reason = failed.map(({ rule }) => rule);
  for (const resource of restricted.filter((item) => item !== null)) restrict(draft, resource, reason);
  const was = closed.attributes.get("access")?.value;
  if (was === "DENY") return;
  change(closed.attributes, "access", "DENY", { rules: reason, was: `was ${showValue(was)}` });
  for (const resource of restricted) if (resource !== null) closed.dependsOn.add(addressOf(resource));
  const apps = listTexts(failed.map(({ finding }) => `"${finding.resource.name}"`));
  closed.warnings.add(
    `Users whom no other rule of the policy allows are denied access to ${apps}. ` +
      "Check that the zones hold every network that people work from, yours first.",
  );
}

/** What the catch-all demands, from the allowed zones. */
function newRule(
  draft: PlanDraft,
  {
    policyId,
    from,
    taken,
    failed,
  }: {
    readonly policyId: string;
    readonly from: ResourceDraft;
    readonly taken: readonly string[];
    readonly failed: readonly Failed[];
  },
): ResourceDraft {
  const attributes: Record<string, Value> = {};
  for (const [name, { value }] of from.attributes) attributes[name] = value;
  const name = freeName("Approved networks", taken);
  return draft.resource(
    {
      type,
      name: identifier("approved_networks", policyId),
      title: `New first rule of ${policyName(draft, policyId)}`,
      importId: null,
      attributes: { ...attributes, name, priority: 0, status: "ACTIVE", access: "ALLOW" },
    },
    failed,
  );
}

function restrict(draft: PlanDraft, resource: ResourceDraft, rules: readonly string[]): void {
  const zones = allowedZones(draft, {
    name: "app_zones",
    description: "Where users may reach apps from, by the Access Control Policy.",
  });
  restrictNetwork(resource, zones, rules);
}

/** The policy by the apps that are bound to it: its own name is not in the evidence. */
function policyName(draft: PlanDraft, policyId: string): string {
  const apps = listed(draft.artifacts.apps).filter((app) => accessPolicyId(app) === policyId);
  const builtIn = [draft.artifacts.admin_console_app, draft.artifacts.dashboard_app].flatMap((evidence) => {
    const app = evidence === undefined ? null : (availableValue(evidence)?.app ?? null);
    return app !== null && accessPolicyId(app) === policyId ? [app] : [];
  });
  const names = [...new Set([...apps, ...builtIn].map((app) => `"${nameOf(app)}"`))];
  return `the authentication policy of ${listTexts(names)}`;
}

/** The whole rule; null where it cannot be written whole. */
function importRule(
  draft: PlanDraft,
  {
    policyId,
    rule,
    failed,
  }: { readonly policyId: string; readonly rule: JsonObject; readonly failed: readonly Failed[] },
): ResourceDraft | null {
  const isCatchAll = isBuiltIn(rule) === true;
  const read = readAppRule(rule, isCatchAll);
  if (read.problem !== null) {
    draft.byHand(failed, read.problem);
    return null;
  }
  const resource = draft.resource(
    {
      type,
      name: identifier("rule", String(rule["id"])),
      title: `Rule "${nameOf(rule)}" of ${policyName(draft, policyId)}`,
      importId: `${policyId}/${String(rule["id"])}`,
      attributes: { policy_id: policyId, ...read.attributes },
    },
    failed,
  );
  resource.blocks.splice(0, resource.blocks.length, ...read.blocks);
  resource.lifecycle = { ignoreChanges: read.ignored };
  return resource;
}

/** The active rules that come first, as the checks find them. */
function decidingRules(rules: JsonList): readonly JsonObject[] {
  const subject = { resource: null, expected: "" };
  return judgeByFirstRule(rules, subject, {
    judgeRule: (of) => fail(of, ""),
    accessPath: "actions.appSignOn.access",
    ifNone: "",
    everyone: new Set(),
  }).deciding;
}
