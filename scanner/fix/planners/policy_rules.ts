import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { mfaRequiredChecks } from "../../checks/application_mfa_required.ts";
import { phishingResistantChecks } from "../../checks/application_phishing_resistant_authentication.ts";
import { accessPolicyId } from "../../checks/parsing/access_policy.ts";
import { activityOf } from "../../checks/parsing/activity.ts";
import { readBoolean, readList, readNumber, readText, showValue } from "../../checks/parsing/fields.ts";
import { listTexts, nameOf } from "../../checks/parsing/names.ts";
import { restrictionsOf, isBuiltIn, isSure, priorityOf } from "../../checks/parsing/policy_rules.ts";
import { areAllAppsSeen } from "../../checks/parsing/whole_list.ts";
import { globalSessionChecks } from "../../checks/signon_global_session.ts";
import { availableValue, entriesOf, type JsonList } from "../../evidence/artifacts.ts";
import { appsByPolicy } from "../../causes/cause_objects.ts";
import {
  below,
  compareSetting,
  decidingRule,
  freeName,
  idOf,
  importChange,
  lostFields,
  type ComparedSetting,
  type NewValue,
  type PlannedChange,
  type Planner,
  type ResourceKind,
} from "../planned_change.ts";
import { identifier, type Value } from "../terraform.ts";

/** The fields of what a session rule does with a sign-in, with how each is read. */
const sessionActions = {
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

const sessionRule: ResourceKind = {
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
    ...Object.fromEntries(Object.entries(sessionActions).map(([attribute, [path]]) => [attribute, path])),
  },
};

/** The rules about global sessions: the rule that decides, or a new rule before the built-in one. */
export const sessionRules: Planner = {
  checks: globalSessionChecks.map(({ name }) => name),
  plan(failed, org) {
    const { check, finding } = failed;
    const { id } = finding.resource;
    const parent = entriesOf(org.artifacts.global_session_policies).find(({ policy }) => idOf(policy) === id);
    if (parent === undefined) return "the org has no active global session policy";
    const rules = entriesOf(parent.rules);
    const rule = decidingRule(failed, rules) ?? onlyRule(rules);
    if (rule === null) return "no single rule decides, and a new one would come before others";
    const isOfOkta = isBuiltIn(rule);
    if (isOfOkta === null) return "the evidence does not say whether the rule that decides is the built-in one";
    const setting = compareSetting(sessionRule, rule, { check, org });
    if (typeof setting === "string") return setting;
    if (isOfOkta) return addRule(parent.policy, rule, { rules, setting });
    const policyId = String(parent.policy["id"]);
    return importChange(sessionRule, rule, {
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
  return level.value === null || level.value === "ANY" ? {} : { risk_level: level.value };
}

/** A rule with the actions of the built-in one, for everybody who came to that. */
function addRule(
  policy: JsonObject,
  builtIn: JsonObject,
  { rules, setting }: { readonly rules: JsonList; readonly setting: ComparedSetting },
): PlannedChange | string {
  // The priorities of session rules start at 1.
  const places = mayBeActive(rules).map((rule) => (isBuiltIn(rule) === false ? readNumber(rule, "priority") : null));
  const priority = Math.max(0, ...places.map((place) => place?.value ?? 0)) + 1;
  if (priority > priorityOf(builtIn)) return "the built-in rule is not the last one";
  const lost = [...restrictionsOf(builtIn, null).keys(), ...lostFields(sessionRule, builtIn)];
  if (lost.length > 0) return `the built-in rule has ${lost.join(", ")}, which a new rule would not have`;
  const copied: Record<string, Value> = {};
  for (const [attribute, [path, read]] of Object.entries(sessionActions)) {
    const field = read(builtIn, path);
    if (field.kind === "value") copied[attribute] = field.value;
    // The provider has its own values for the limits that are not set.
    else if (field.kind === "unreadable" || attribute.startsWith("session_"))
      return `the evidence does not have ${path} of the built-in rule`;
  }
  const policyId = String(policy["id"]);
  return {
    type: sessionRule.type,
    name: identifier("session", policyId, policy["name"]),
    title: `New rule before the built-in one of the global session policy "${nameOf(policy)}"`,
    importId: null,
    required: { policy_id: policyId, name: freeName("STIG session", rules.map(nameOf)) },
    attributes: { status: "ACTIVE", priority, ...copied },
    changes: { [setting.attribute]: { value: setting.needed, was: `the built-in rule has ${setting.found}` } },
  };
}

const method = "actions.appSignOn.verificationMethod";
const factors = "authenticationMethods[] excludedAuthenticationMethods[]"
  .split(" ")
  .flatMap((list) => below(list, "key id method"))
  .join(" ");
const ofFactor = `${factors} methods reauthenticateIn types required`;
const ofPossession =
  "deviceBound hardwareProtection phishingResistant userPresence userVerification userVerificationMethods";

const appRule: ResourceKind = {
  type: "okta_app_signon_policy_rule",
  prefix: "rule",
  replaced: ["conditions", "actions"],
  paths: {
    name: "name",
    status: "status",
    priority: "priority",
    access: "actions.appSignOn.access",
    type: `${method}.type`,
    factor_mode: `${method}.factorMode`,
    re_authentication_frequency: `${method}.reauthenticateIn`,
    inactivity_period: `${method}.inactivityPeriod`,
    constraints: [
      ...below(`${method}.constraints[].knowledge`, ofFactor),
      ...below(`${method}.constraints[].possession`, `${ofFactor} ${ofPossession}`),
    ],
    // Rules with chains are left to a person.
    chains: [],
    keep_me_signed_in: below("actions.appSignOn.keepMeSignedIn", "postAuth postAuthPromptFrequency"),
    custom_expression: "conditions.elCondition.condition",
    network_connection: "conditions.network.connection",
    network_includes: "conditions.network.include",
    network_excludes: "conditions.network.exclude",
    users_included: "conditions.people.users.include",
    users_excluded: "conditions.people.users.exclude",
    groups_included: "conditions.people.groups.include",
    groups_excluded: "conditions.people.groups.exclude",
    user_types_included: "conditions.userType.include",
    user_types_excluded: "conditions.userType.exclude",
    risk_score: "conditions.riskScore.level",
    device_is_registered: "conditions.device.registered",
    device_is_managed: "conditions.device.managed",
    device_assurances_included: "conditions.device.assurance.include",
    platform_include: below("conditions.platform.include[]", "type os.type os.expression"),
  },
};

/** The factors that the Admin Console and the Dashboard ask for, in the rule that decides. */
export const appRules: Planner = {
  checks: [...mfaRequiredChecks, ...phishingResistantChecks].map(({ name }) => name),
  plan(failed, org) {
    const { admin_console_app, dashboard_app } = org.artifacts;
    const evidence = failed.check.name.includes("_admin_console_") ? admin_console_app : dashboard_app;
    const { app = null, rules = null } = (evidence === undefined ? null : availableValue(evidence)) ?? {};
    const policyId = app === null ? null : accessPolicyId(app);
    const rule = decidingRule(failed, entriesOf(rules));
    if (typeof policyId !== "string") return "the app has no authentication policy";
    if (rule === null) return "no single rule of its authentication policy decides";
    const problem = problemOf(rule);
    if (problem !== null) return problem;
    const apps = appsByPolicy(org.artifacts)(policyId);
    return importChange(appRule, rule, {
      title: `Rule "${nameOf(rule)}" of the authentication policy of ${listTexts(apps)}`,
      importId: `${policyId}/${String(rule["id"])}`,
      required: { policy_id: policyId, name: nameOf(rule) },
      attributes: constraintsOf(rule),
      changes: failed.check.name.endsWith("_mfa_required") ? twoFactors(rule) : phishingResistance(rule),
      warnings: [
        "Users without such a factor are locked out. Check first that every user of these apps has enrolled one. Keep a session of a Super Administrator open.",
        areAllAppsSeen(org.artifacts.apps)
          ? `The rule decides for ${listTexts(apps)}.`
          : "The rule may decide for more apps: the role of this run does not see every app.",
      ],
    });
  },
};

/** Rules that the provider cannot write back with the same conditions, or that have no factors to demand. */
function problemOf(rule: JsonObject): string | null {
  const { value: type } = readText(rule, `${method}.type`);
  if (type !== null && type !== "ASSURANCE") {
    return "the rule uses authentication method chains, and you have to choose the new ones";
  }
  const isTrue = (path: string) => readBoolean(rule, path).value === true;
  const isManagedAlone = isTrue("conditions.device.managed") && !isTrue("conditions.device.registered");
  return isManagedAlone ? "Terraform would reset conditions.device.managed" : null;
}

function twoFactors(rule: JsonObject): Readonly<Record<string, NewValue>> {
  const mode = readText(rule, `${method}.factorMode`);
  return { factor_mode: { value: "2FA", was: mode.kind === "value" ? `was ${showValue(mode.value)}` : "was not set" } };
}

/** The constraints as they are. */
function constraintsOf(rule: JsonObject): { readonly constraints?: Value } {
  const constraints = alternativesOf(rule);
  return constraints.length === 0 ? {} : { constraints: asJson(constraints) };
}

/** The same alternatives, each with a possession factor that cannot be phished. */
function phishingResistance(rule: JsonObject): Readonly<Record<string, NewValue>> {
  const alternatives = alternativesOf(rule);
  const stricter = (alternatives.length === 0 ? [{}] : alternatives).map(({ possession, ...others }: JsonObject) => ({
    ...others,
    possession: { ...(isJsonObject(possession) && possession), required: true, phishingResistant: "REQUIRED" },
  }));
  const was = alternatives.length === 0 ? "had no constraints" : "accepted factors that can be phished";
  return { constraints: { value: asJson(stricter), was } };
}

/**
 * The constraints, of which one has to be met. Okta requires a factor that does not say otherwise, and the provider does not,
 * so each says it.
 */
function alternativesOf(rule: JsonObject): JsonList {
  const constraints = (readList(rule, `${method}.constraints`).value ?? []).filter(isJsonObject);
  const withRequired = (factor: unknown) => (isJsonObject(factor) ? { required: true, ...factor } : factor);
  return constraints.map((constraint) =>
    Object.fromEntries(Object.entries(constraint).map(([name, factor]) => [name, withRequired(factor)])),
  );
}

function asJson(objects: JsonList): Value {
  return objects.map((value) => ({ kind: "json", value }));
}
