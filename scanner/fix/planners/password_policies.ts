import type { JsonObject } from "../../../shared/json.ts";
import { readTexts, showValue } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { idOf, listed, type Failed, type PlanDraft } from "../plan_draft.ts";
import { addressOf, change, identifier, type Value } from "../terraform.ts";
import { readWhole, unknownFields, type Source } from "../whole_objects.ts";

const demands: Readonly<Record<string, readonly [attribute: string, value: Value]>> = {
  authenticator_password_minimum_length_15: ["password_min_length", 15],
  authenticator_password_complexity_uppercase: ["password_min_uppercase", 1],
  authenticator_password_complexity_lowercase: ["password_min_lowercase", 1],
  authenticator_password_complexity_number: ["password_min_number", 1],
  authenticator_password_complexity_symbol: ["password_min_symbol", 1],
  authenticator_password_minimum_age_24h: ["password_min_age_minutes", 1440],
  authenticator_password_maximum_age_60d: ["password_max_age_days", 60],
  authenticator_password_history_5: ["password_history_count", 5],
  authenticator_password_common_password_check: ["password_dictionary_lookup", true],
  authenticator_password_lockout_threshold_3: ["password_max_lockout_attempts", 3],
};

export const passwordChecks: readonly string[] = Object.keys(demands);

const password = "settings.password";
const factors = "settings.recovery.factors";

/** Fields of both resources. A field that the rules are about may be absent: the org does not set it, and the plan may. */
const settings: readonly Source[] = [
  ["password_min_length", "number", `${password}.complexity.minLength`, null],
  ["password_min_lowercase", "number", `${password}.complexity.minLowerCase`, 0],
  ["password_min_uppercase", "number", `${password}.complexity.minUpperCase`, 0],
  ["password_min_number", "number", `${password}.complexity.minNumber`, 0],
  ["password_min_symbol", "number", `${password}.complexity.minSymbol`, 0],
  ["password_exclude_username", "boolean", `${password}.complexity.excludeUsername`],
  ["password_dictionary_lookup", "boolean", `${password}.complexity.dictionary.common.exclude`, false],
  ["password_max_age_days", "number", `${password}.age.maxAgeDays`, 0],
  ["password_expire_warn_days", "number", `${password}.age.expireWarnDays`],
  ["password_min_age_minutes", "number", `${password}.age.minAgeMinutes`, 0],
  ["password_history_count", "number", `${password}.age.historyCount`, 0],
  ["password_max_lockout_attempts", "number", `${password}.lockout.maxAttempts`, 0],
  ["password_auto_unlock_minutes", "number", `${password}.lockout.autoUnlockMinutes`],
  ["password_show_lockout_failures", "boolean", `${password}.lockout.showLockoutFailures`],
  ["password_lockout_notification_channels", "texts", `${password}.lockout.userLockoutNotificationChannels`, []],
  ["breached_password_expire_after_days", "number", `${password}.breachedProtection.expireAfterDays`, null],
  ["breached_password_logout_enabled", "boolean", `${password}.breachedProtection.logoutEnabled`, null],
  ["breached_password_delegated_workflow_id", "text", `${password}.breachedProtection.delegatedWorkflowId`, null],
  ["question_recovery", "text", `${factors}.recovery_question.status`],
  ["question_min_length", "number", `${factors}.recovery_question.properties.complexity.minLength`, null],
  ["email_recovery", "text", `${factors}.okta_email.status`],
  ["recovery_email_token", "number", `${factors}.okta_email.properties.recoveryToken.tokenLifetimeMinutes`],
  // An org without telephony does not list them.
  ["sms_recovery", "text", `${factors}.okta_sms.status`, "INACTIVE"],
  ["call_recovery", "text", `${factors}.okta_call.status`, "INACTIVE"],
  ["skip_unlock", "boolean", "settings.delegation.options.skipUnlock", false],
];

const ownFields: readonly Source[] = [
  ["name", "text", "name"],
  ["status", "text", "status", "ACTIVE"],
  ["priority", "number", "priority"],
  ["groups_included", "texts", "conditions.people.groups.include", null],
  ["auth_provider", "text", "conditions.authProvider.provider", "OKTA"],
];

const excludedAttributes = `${password}.complexity.excludeAttributes`;
const known = [...settings, ...ownFields].map(([, , path]) => path);
const type = "okta_policy_password";

/** The rules about passwords: each failing policy as a whole, with the failing values changed. */
export function planPasswordPolicies(draft: PlanDraft): void {
  const failed = draft.failedOf(passwordChecks);
  for (const policy of listed(draft.artifacts.password_policies)) {
    const ofPolicy = failed.filter(({ finding }) => finding.resource.id === idOf(policy));
    if (ofPolicy.length > 0) planPolicy(draft, policy, ofPolicy);
  }
  draft.byHand(
    failed.filter(({ finding }) => finding.resource.type !== "policy"),
    "the org has no active password policy",
  );
  orderPolicies(draft);
}

function planPolicy(draft: PlanDraft, policy: JsonObject, failed: readonly Failed[]): void {
  const isDefault = policy["system"] === true && policy["name"] === "Default Policy";
  const { attributes, missing } = readWhole(policy, isDefault ? settings : [...ownFields, ...settings]);
  const excluded = readTexts(policy, excludedAttributes);
  const excludes = excluded.kind === "value" ? excluded.value : [];
  const unknown = [
    ...unknownFields(policy, ["conditions", "settings"], [...known, excludedAttributes]),
    ...excludes.filter((name) => name !== "firstName" && name !== "lastName").map(() => excludedAttributes),
  ];
  if (missing.length > 0) return draft.byHand(failed, `the evidence does not have ${missing.join(", ")}`);
  if (unknown.length > 0) return draft.byHand(failed, `Terraform would reset ${unknown.join(", ")}`);
  const resource = draft.resource(
    {
      type: isDefault ? "okta_policy_password_default" : type,
      name: isDefault ? "default" : identifier("policy", String(policy["id"]), policy["name"]),
      title: `Password policy "${nameOf(policy)}"`,
      importId: isDefault ? "." : String(policy["id"]),
      attributes: {
        ...attributes,
        ...(excludes.includes("firstName") ? { password_exclude_first_name: true } : {}),
        ...(excludes.includes("lastName") ? { password_exclude_last_name: true } : {}),
      },
    },
    failed,
  );
  // It may be of several lines, which the evidence does not keep.
  if (!isDefault) resource.lifecycle = { ignoreChanges: ["description"] };
  for (const { check, rule } of failed) {
    const [attribute, stigValue] = demands[check] ?? [];
    if (attribute === undefined || stigValue === undefined) continue;
    // Such as one upper case letter, which has no parameter.
    const value = draft.limitOf(check, stigValue);
    const was = resource.attributes.get(attribute)?.value;
    change(resource.attributes, attribute, value, {
      rules: [rule],
      was: was === undefined ? "not set" : `was ${showValue(was)}`,
    });
    if (
      attribute === "password_max_lockout_attempts" &&
      resource.attributes.get("password_auto_unlock_minutes")?.value === 0
    ) {
      resource.warnings.add(
        `After ${showValue(value)} wrong passwords a user stays locked out until an administrator unlocks the account, because the policy ` +
          "has no automatic unlock. Anybody who knows a user name can lock that user out, you included.",
      );
    }
    if (attribute === "password_max_age_days") {
      resource.warnings.add("Users with an older password have to change it at the next sign-in.");
    }
  }
}

/** The priority of the default policy moves with the others, and the provider refuses one that is out of date (E0000077). */
function orderPolicies(draft: PlanDraft): void {
  const others = draft.resources().filter((resource) => resource.type === type);
  for (const resource of draft.resources()) {
    if (resource.type !== "okta_policy_password_default") continue;
    for (const other of others) resource.dependsOn.add(addressOf(other));
  }
}
