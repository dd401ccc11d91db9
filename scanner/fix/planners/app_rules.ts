import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { availableValue, type JsonList } from "../../evidence/artifacts.ts";
import { fail } from "../../checks/evaluating/finding_drafts.ts";
import { judgeNetwork, networkConditionOf } from "../../checks/evaluating/network_condition.ts";
import { judgeByFirstRule } from "../../checks/evaluating/rules.ts";
import { accessOf, isBuiltIn } from "../../checks/parsing/rule_order.ts";
import { accessPolicyId } from "../../checks/parsing/access_policy.ts";
import { activityOf } from "../../checks/parsing/activity.ts";
import { readNumber, showValue } from "../../checks/parsing/fields.ts";
import { listTexts, nameOf } from "../../checks/parsing/names.ts";
import { everyoneIn, restrictionsOf } from "../../checks/parsing/rule_conditions.ts";
import { whyNotChanged } from "../access_model/planned_evidence.ts";
import { appsOf, areAllAppsSeen, rulesOf, zonesIn } from "../access_model/planned_policies.ts";
import { constraintsOf, keepSignedInBlock, readAppRule } from "../access_model/app_rule_fields.ts";
import { allowedZones, freeName, restrictNetwork, zonesProblem } from "./network_zones.ts";
import { idOf, listed, type Failed, type PlanDraft } from "../plan_draft.ts";
import { addressOf, change, identifier, type ResourceDraft, type Value } from "../terraform.ts";

const type = "okta_app_signon_policy_rule";
const accessPath = "actions.appSignOn.access";
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

/** The failing findings about one policy. */
interface OfPolicy {
  readonly policyId: string;
  readonly failed: readonly Failed[];
}

/** The rules about apps: what the deciding rule of an app's policy demands of users, and from where its rules let them in. */
export function planAppRules(draft: PlanDraft): void {
  const { admin_console_app: console, dashboard_app: dashboard, apps } = draft.artifacts;
  const builtIn = [
    [consoleChecks, console],
    [dashboardChecks, dashboard],
  ] as const;
  for (const [checks, evidence] of builtIn) {
    const app = evidence === undefined ? null : (availableValue(evidence)?.app ?? null);
    planByPolicy(draft, { failed: draft.failedOf(checks), appOf: () => app }, planVerification);
  }
  const byId = new Map(listed(apps).map((app) => [idOf(app), app]));
  const failed = draft.failedOf([zoneCheck]);
  // After that: the new rule takes over what the catch-all demands.
  planByPolicy(draft, { failed, appOf: ({ finding }) => byId.get(finding.resource.id) ?? null }, planZones);
}

function planByPolicy(
  draft: PlanDraft,
  { failed, appOf }: { readonly failed: readonly Failed[]; readonly appOf: (failed: Failed) => JsonObject | null },
  plan: (draft: PlanDraft, of: OfPolicy) => string | null,
): void {
  const byPolicy = new Map<string, readonly Failed[]>();
  for (const item of failed) {
    const app = appOf(item);
    const policyId = app === null ? null : accessPolicyId(app);
    if (typeof policyId !== "string") draft.byHand([item], "the app has no authentication policy");
    else byPolicy.set(policyId, [...(byPolicy.get(policyId) ?? []), item]);
  }
  for (const [policyId, ofPolicy] of byPolicy) {
    const of = { policyId, failed: ofPolicy };
    draft.attempt(ofPolicy, () => plan(draft, of) ?? whyNotChanged(draft, { kind: "app", policyId }, ofPolicy));
  }
}

function planVerification(draft: PlanDraft, { policyId, failed }: OfPolicy): string | null {
  const [rule, ...equals] = decidingRules(draft, policyId);
  if (rule === undefined) return "no active rule of its authentication policy lets anybody in";
  if (equals.length > 0) return "several active rules of its policy come first";
  const constraints = constraintsOf(rule);
  if (constraints === null) {
    return "the rule uses authentication method chains, and you have to choose the new ones";
  }
  const resource = importRule(draft, { policyId, rule, failed });
  if (typeof resource === "string") return resource;
  for (const item of failed) {
    if (item.check.endsWith("_mfa_required")) {
      const was = resource.attributes.get("factor_mode")?.value;
      change(resource.attributes, "factor_mode", "2FA", { rules: [item.rule], was: `was ${showValue(was)}` });
    } else {
      const was = constraints.length === 0 ? "had no constraints" : "accepted factors that can be phished";
      change(resource.attributes, "constraints", phishingResistant(constraints), { rules: [item.rule], was });
    }
  }
  const isConsole = failed.some(({ check }) => consoleChecks.includes(check));
  resource.warnings.add(
    `Users without such a factor are locked out. Check that every ${isConsole ? "administrator" : "user"} has enrolled one, ` +
      `you first${isConsole ? ", and keep a session of a Super Administrator open while you apply" : ""}.`,
  );
  const apps = appsOf(draft.artifacts, policyId);
  if (!areAllAppsSeen(draft.artifacts)) {
    resource.warnings.add("Every other app that uses this policy is affected too. This run could not see all of them.");
  } else if (apps.length > 1) {
    resource.warnings.add(`The policy is shared: the change affects ${apps.join(", ")}.`);
  }
  return null;
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

/**
 * Each rule that lets people in from anywhere is restricted to zones, one new rule lets in from there whom the catch-all let
 * in, and the catch-all is closed. Rules that deny stay as they are.
 */
function planZones(draft: PlanDraft, { policyId, failed }: OfPolicy): string | null {
  if (!areAllAppsSeen(draft.artifacts)) {
    return "this run could not see every app, and others may use the same policy: run fix as Super Administrator";
  }
  const all = rulesOf(draft.artifacts, "app", policyId);
  const unread = all === null ? "not all rules of its policy could be read" : zonesProblem(draft);
  if (all === null || unread !== null) return unread;
  const active = all.filter((rule) => activityOf(rule) === "active");
  const custom = active.filter((rule) => isBuiltIn(rule) === false);
  const catchAll = active.find((rule) => isBuiltIn(rule) === true);
  if (catchAll === undefined) return "its policy has no active catch-all rule";
  const open = custom.filter((rule) => accessOf(rule, accessPath) === "ALLOW" && isOpen(rule, draft));
  const isClosed = accessOf(catchAll, accessPath) === "DENY";
  if (isClosed && open.length === 0) {
    return "its policy lets nobody in, and you have to decide who gets in, from where and with which factors";
  }
  const rules = [...new Set(failed.map(({ rule }) => rule))];
  const policy = policyName(draft, policyId);
  const zones = allowedZones(draft, {
    name: identifier("app_zones", policyId, appsOf(draft.artifacts, policyId).join(" ")),
    description: `From where ${policy} lets users in, by the Access Control Policy.`,
  });
  const restricted: ResourceDraft[] = [];
  for (const rule of open) {
    const resource = importRule(draft, { policyId, rule, failed });
    if (typeof resource === "string") return resource;
    restrictNetwork(resource, zones, rules);
    restricted.push(resource);
  }
  if (isClosed) return null;
  const closed = importRule(draft, { policyId, rule: catchAll, failed });
  if (typeof closed === "string") return closed;
  // Where a rule is for everybody, nobody came to the catch-all.
  const everyone = everyoneIn(draft.artifacts.built_in_groups);
  if (custom.every((rule) => restrictionsOf(rule, everyone).size > 0)) {
    const made = newRule(draft, { policyId, from: closed, catchAll, all, failed });
    restrictNetwork(made, zones, rules);
    restricted.push(made);
  }
  const was = closed.attributes.get("access")?.value;
  change(closed.attributes, "access", "DENY", { rules, was: `was ${showValue(was)}` });
  for (const resource of restricted) closed.dependsOn.add(addressOf(resource));
  closed.warnings.add(
    `Users that no other rule of the policy allows are denied access to ${appsOf(draft.artifacts, policyId).join(", ")}. ` +
      "Check that the zones hold every network that people work from, yours first.",
  );
  return null;
}

/** Whether the network condition of a rule fails, so that a finding can name it. What only a person can judge stays. */
function isOpen(rule: JsonObject, draft: PlanDraft): boolean {
  const subject = { resource: null, expected: "" };
  return judgeNetwork(subject, networkConditionOf(rule, zonesIn(draft.artifacts)), "").status === "FAIL";
}

/** What the catch-all demands, from the allowed zones, for everybody whom no earlier rule is for. */
function newRule(
  draft: PlanDraft,
  {
    policyId,
    from,
    catchAll,
    all,
    failed,
  }: OfPolicy & { readonly from: ResourceDraft; readonly catchAll: JsonObject; readonly all: JsonList },
): ResourceDraft {
  const attributes: Record<string, Value> = {};
  for (const [name, { value }] of from.attributes) attributes[name] = value;
  const name = freeName("Approved networks", all.map(nameOf));
  const places = all.filter((rule) => isBuiltIn(rule) !== true).map((rule) => readNumber(rule, "priority"));
  const priority = Math.max(-1, ...places.map((place) => (place.kind === "value" ? place.value : -1))) + 1;
  const resource = draft.resource(
    {
      type,
      name: identifier("approved_networks", policyId),
      title: `New rule before the catch-all of ${policyName(draft, policyId)}`,
      importId: null,
      attributes: { ...attributes, name, priority, status: "ACTIVE", access: "ALLOW" },
    },
    failed,
  );
  const keepSignedIn = keepSignedInBlock(catchAll);
  resource.blocks.splice(0, resource.blocks.length, ...(keepSignedIn === null ? [] : [keepSignedIn]));
  // Without it the closed catch-all lets nobody in.
  resource.lifecycle = { preventDestroy: true };
  return resource;
}

/** The policy by the apps that are bound to it: its own name is not in the evidence. */
function policyName(draft: PlanDraft, policyId: string): string {
  return `the authentication policy of ${listTexts(appsOf(draft.artifacts, policyId))}`;
}

/** The whole rule, or why it cannot be written whole. */
function importRule(
  draft: PlanDraft,
  { policyId, rule, failed }: OfPolicy & { readonly rule: JsonObject },
): ResourceDraft | string {
  const isCatchAll = isBuiltIn(rule) === true;
  const read = readAppRule(rule, isCatchAll);
  if (read.problem !== null) return read.problem;
  const resource = draft.resource(
    {
      type,
      name: identifier("rule", String(rule["id"]), rule["name"]),
      title: `Rule "${nameOf(rule)}" of ${policyName(draft, policyId)}`,
      importId: `${policyId}/${String(rule["id"])}`,
      attributes: { policy_id: policyId, ...read.attributes },
    },
    failed,
  );
  resource.blocks.splice(0, resource.blocks.length, ...read.blocks);
  resource.lifecycle = { preventDestroy: true, ignoreChanges: read.ignored };
  return resource;
}

/** The active rules that let people in first, as the checks find them. */
function decidingRules(draft: PlanDraft, policyId: string): readonly JsonObject[] {
  const subject = { resource: null, expected: "" };
  return judgeByFirstRule(rulesOf(draft.artifacts, "app", policyId) ?? [], subject, {
    judgeRule: (of) => fail(of, ""),
    accessPath,
    ifNone: "",
    everyone: everyoneIn(draft.artifacts.built_in_groups),
  }).deciding;
}
