import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { mfaRequiredChecks } from "../../checks/application_mfa_required.ts";
import { phishingResistantChecks } from "../../checks/application_phishing_resistant_authentication.ts";
import { accessPolicyId } from "../../checks/parsing/access_policy.ts";
import { readBoolean, readList, readText, showValue } from "../../checks/parsing/fields.ts";
import { listTexts, nameOf } from "../../checks/parsing/names.ts";
import { areAllAppsSeen } from "../../checks/parsing/whole_list.ts";
import { availableValue, entriesOf, type BuiltInApp, type JsonList } from "../../evidence/artifacts.ts";
import {
  appsByPolicy,
  below,
  decidingRule,
  importChange,
  type Failed,
  type NewValue,
  type PlannedOrg,
  type Planner,
  type ResourceKind,
} from "../planned_change.ts";
import type { Value } from "../terraform.ts";

const method = "actions.appSignOn.verificationMethod";
const factors = "authenticationMethods[] excludedAuthenticationMethods[]"
  .split(" ")
  .flatMap((list) => below(list, "key id method"))
  .join(" ");
const ofFactor = `${factors} methods reauthenticateIn types required`;
const ofPossession =
  "deviceBound hardwareProtection phishingResistant userPresence userVerification userVerificationMethods";

const kind: ResourceKind = {
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
    const { app, rules } = builtInApp(failed, org);
    const policyId = app === null ? null : accessPolicyId(app);
    const rule = decidingRule(failed, entriesOf(rules));
    if (typeof policyId !== "string") return "the app has no authentication policy";
    if (rule === null) return "no single rule of its authentication policy decides";
    const problem = problemOf(rule);
    if (problem !== null) return problem;
    const apps = appsByPolicy(org.artifacts)(policyId);
    return importChange(kind, rule, {
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

function builtInApp({ check }: Failed, { artifacts }: PlannedOrg): BuiltInApp {
  const isConsole = check.name.includes("_admin_console_");
  const evidence = isConsole ? artifacts.admin_console_app : artifacts.dashboard_app;
  return (evidence === undefined ? null : availableValue(evidence)) ?? { app: null, rules: null };
}

/** Rules that the provider cannot write back with the same conditions, or that have no factors to demand. */
function problemOf(rule: JsonObject): string | null {
  const type = readText(rule, `${method}.type`);
  if (type.kind === "value" && type.value !== "ASSURANCE") {
    return "the rule uses authentication method chains, and you have to choose the new ones";
  }
  const [registered, managed] = ["registered", "managed"].map((field) =>
    readBoolean(rule, `conditions.device.${field}`),
  );
  const isTrue = (field: typeof managed) => field?.kind === "value" && field.value;
  return isTrue(managed) && !isTrue(registered) ? "Terraform would reset conditions.device.managed" : null;
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
  const list = readList(rule, `${method}.constraints`);
  const constraints = list.kind === "value" ? list.value.filter(isJsonObject) : [];
  const withRequired = (factor: unknown) => (isJsonObject(factor) ? { required: true, ...factor } : factor);
  return constraints.map((constraint) =>
    Object.fromEntries(Object.entries(constraint).map(([name, factor]) => [name, withRequired(factor)])),
  );
}

function asJson(objects: JsonList): Value {
  return objects.map((value) => ({ kind: "json", value }));
}
