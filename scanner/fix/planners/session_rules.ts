import type { JsonObject } from "../../../shared/json.ts";
import { activityOf } from "../../checks/parsing/activity.ts";
import { readBoolean, readNumber, readText } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { globalSessionChecks } from "../../checks/signon_global_session.ts";
import { restrictionsOf } from "../../checks/parsing/rule_conditions.ts";
import { isBuiltIn, isSure, priorityOf } from "../../checks/parsing/rule_order.ts";
import { entriesOf, type JsonList } from "../../evidence/artifacts.ts";
import {
  compareSetting,
  decidingRule,
  freeName,
  idOf,
  importChange,
  lostFields,
  type ComparedSetting,
  type PlannedChange,
  type Planner,
  type ResourceKind,
} from "../planned_change.ts";
import { identifier, type Value } from "../terraform.ts";

/** The fields of what a rule does with a sign-in, with how each is read. */
const actions = {
  access: ["actions.signon.access", readText],
  mfa_prompt: ["actions.signon.factorPromptMode", readText],
  primary_factor: ["actions.signon.primaryFactor", readText],
  mfa_required: ["actions.signon.requireFactor", readBoolean],
  mfa_remember_device: ["actions.signon.rememberDeviceByDefault", readBoolean],
  session_persistent: ["actions.signon.session.usePersistentCookie", readBoolean],
  mfa_lifetime: ["actions.signon.factorLifetime", readNumber],
  session_idle: ["actions.signon.session.maxSessionIdleMinutes", readNumber],
  session_lifetime: ["actions.signon.session.maxSessionLifetimeMinutes", readNumber],
} as const;

const kind: ResourceKind = {
  type: "okta_policy_rule_signon",
  prefix: "rule",
  replaced: ["conditions", "actions"],
  paths: {
    name: "name",
    status: "status",
    priority: "priority",
    authtype: "conditions.authContext.authType",
    network_connection: "conditions.network.connection",
    network_includes: "conditions.network.include",
    network_excludes: "conditions.network.exclude",
    users_excluded: "conditions.people.users.exclude",
    behaviors: "conditions.risk.behaviors",
    risk_level: "conditions.riskScore.level",
    identity_provider: "conditions.identityProvider.provider",
    identity_provider_ids: "conditions.identityProvider.idpIds",
    // A rule with a sequence is left to a person, because its path is not here.
    factor_sequence: [],
    ...Object.fromEntries(Object.entries(actions).map(([attribute, [path]]) => [attribute, path])),
  },
};

/** The rules about global sessions: the rule that decides, or a new rule before the built-in one. */
export const sessionRules: Planner = {
  checks: globalSessionChecks.map(({ name }) => name),
  plan(failed, org) {
    const { check, finding } = failed;
    const parent = entriesOf(org.artifacts.global_session_policies).find(
      ({ policy }) => idOf(policy) === finding.resource.id,
    );
    if (parent === undefined) return "the org has no active global session policy";
    const rules = entriesOf(parent.rules);
    const rule = decidingRule(failed, rules) ?? onlyRule(rules);
    if (rule === null) return "no single rule decides, and a new one would come before others";
    const isOfOkta = isBuiltIn(rule);
    if (isOfOkta === null) return "the evidence does not say whether the rule that decides is the built-in one";
    const setting = compareSetting(kind, rule, { check, org });
    if (typeof setting === "string") return setting;
    if (isOfOkta) return addRule(parent.policy, rule, { rules, setting });
    const policyId = String(parent.policy["id"]);
    return importChange(kind, rule, {
      title: `Rule "${nameOf(rule)}" of the global session policy "${nameOf(parent.policy)}"`,
      importId: `${policyId}/${String(rule["id"])}`,
      required: { policy_id: policyId, name: nameOf(rule) },
      attributes: riskLevel(rule),
      changes: { [setting.attribute]: { value: setting.needed, was: `was ${setting.found}` } },
    });
  },
};

/** The built-in rule of a policy that has no other active one. */
function onlyRule(rules: JsonList): JsonObject | null {
  const [rule, ...others] = mayBeActive(rules);
  return rule !== undefined && others.length === 0 && isSure(rule) && isBuiltIn(rule) === true ? rule : null;
}

function mayBeActive(rules: JsonList): JsonList {
  return rules.filter((rule) => activityOf(rule) !== "inactive");
}

/** The provider writes the level and does not read it, so the configuration has to say it. */
function riskLevel(rule: JsonObject): { readonly risk_level?: string } {
  const level = readText(rule, "conditions.riskScore.level");
  return level.kind === "value" && level.value !== "ANY" ? { risk_level: level.value } : {};
}

/** A rule with the actions of the built-in one, for everybody who came to that. */
function addRule(
  policy: JsonObject,
  builtIn: JsonObject,
  { rules, setting }: { readonly rules: JsonList; readonly setting: ComparedSetting },
): PlannedChange | string {
  // The priorities of session rules start at 1.
  const places = mayBeActive(rules).map((rule) => (isBuiltIn(rule) === false ? readNumber(rule, "priority") : null));
  const priority = Math.max(0, ...places.map((place) => (place?.kind === "value" ? place.value : 0))) + 1;
  if (priority > priorityOf(builtIn)) return "the built-in rule is not the last one";
  const lost = [...restrictionsOf(builtIn, null).keys(), ...lostFields(kind, builtIn)];
  if (lost.length > 0) return `the built-in rule has ${lost.join(", ")}, which a new rule would not have`;
  const copied: Record<string, Value> = {};
  for (const [attribute, [path, read]] of Object.entries(actions)) {
    const field = read(builtIn, path);
    if (field.kind === "value") copied[attribute] = field.value;
    // The provider has its own values for the limits that are not set.
    else if (field.kind === "unreadable" || attribute.startsWith("session_"))
      return `the evidence does not have ${path} of the built-in rule`;
  }
  const policyId = String(policy["id"]);
  return {
    type: kind.type,
    name: identifier("session", policyId, policy["name"]),
    title: `New rule before the built-in one of the global session policy "${nameOf(policy)}"`,
    importId: null,
    required: { policy_id: policyId, name: freeName("STIG session", rules.map(nameOf)) },
    attributes: { status: "ACTIVE", priority, ...copied },
    changes: { [setting.attribute]: { value: setting.needed, was: `the built-in rule has ${setting.found}` } },
  };
}
