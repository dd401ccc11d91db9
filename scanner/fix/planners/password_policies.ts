import type { JsonObject } from "../../../shared/json.ts";
import { passwordChecks } from "../../checks/authenticator_password_settings.ts";
import { readBoolean, readNumber, readText, readTexts, showValue } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { entriesOf } from "../../evidence/artifacts.ts";
import { compareSetting, foundObject, importChange, type Planner, type ResourceKind } from "../planned_change.ts";

const password = "settings.password";
const factors = "settings.recovery.factors";
const excluded = `${password}.complexity.excludeAttributes`;

const settings = {
  password_min_length: `${password}.complexity.minLength`,
  password_min_lowercase: `${password}.complexity.minLowerCase`,
  password_min_uppercase: `${password}.complexity.minUpperCase`,
  password_min_number: `${password}.complexity.minNumber`,
  password_min_symbol: `${password}.complexity.minSymbol`,
  password_exclude_username: `${password}.complexity.excludeUsername`,
  password_exclude_first_name: excluded,
  password_exclude_last_name: excluded,
  password_dictionary_lookup: `${password}.complexity.dictionary.common.exclude`,
  password_max_age_days: `${password}.age.maxAgeDays`,
  password_expire_warn_days: `${password}.age.expireWarnDays`,
  password_min_age_minutes: `${password}.age.minAgeMinutes`,
  password_history_count: `${password}.age.historyCount`,
  password_max_lockout_attempts: `${password}.lockout.maxAttempts`,
  password_auto_unlock_minutes: `${password}.lockout.autoUnlockMinutes`,
  password_show_lockout_failures: `${password}.lockout.showLockoutFailures`,
  password_lockout_notification_channels: `${password}.lockout.userLockoutNotificationChannels`,
  breached_password_expire_after_days: `${password}.breachedProtection.expireAfterDays`,
  breached_password_logout_enabled: `${password}.breachedProtection.logoutEnabled`,
  breached_password_delegated_workflow_id: `${password}.breachedProtection.delegatedWorkflowId`,
  question_recovery: `${factors}.recovery_question.status`,
  question_min_length: `${factors}.recovery_question.properties.complexity.minLength`,
  email_recovery: `${factors}.okta_email.status`,
  recovery_email_token: `${factors}.okta_email.properties.recoveryToken.tokenLifetimeMinutes`,
  sms_recovery: `${factors}.okta_sms.status`,
  call_recovery: `${factors}.okta_call.status`,
  skip_unlock: "settings.delegation.options.skipUnlock",
};

const custom: ResourceKind = {
  type: "okta_policy_password",
  prefix: "policy",
  replaced: ["conditions", "settings"],
  paths: {
    name: "name",
    description: "description",
    status: "status",
    priority: "priority",
    groups_included: "conditions.people.groups.include",
    auth_provider: "conditions.authProvider.provider",
    ...settings,
  },
};

/** The provider reads what belongs to the policy itself, and has no attributes for it. */
const builtIn: ResourceKind = {
  type: "okta_policy_password_default",
  prefix: "policy",
  replaced: ["settings"],
  paths: settings,
};

/** The rules about passwords: the setting that fails, in the policy that has it. */
export const passwordPolicies: Planner = {
  checks: passwordChecks.map(({ name }) => name),
  plan({ check, finding }, org) {
    const policies = entriesOf(org.artifacts.password_policies);
    const policy = foundObject(org.artifacts.password_policies, finding);
    if (policy === undefined) return "the org has no active password policy";
    const defaults = policies.filter(({ system, name }) => system === true && name === "Default Policy");
    const isDefault = defaults.includes(policy);
    if (isDefault && defaults.length > 1) return "several policies are the default one";
    const kind = isDefault ? builtIn : custom;
    const setting = compareSetting(kind, policy, { check, org });
    const problem = problemOf(policy);
    if (typeof setting === "string") return setting;
    if (problem !== null) return problem;
    return importChange(kind, policy, {
      title: `Password policy "${nameOf(policy)}"`,
      required: isDefault ? {} : { name: nameOf(policy) },
      ...(isDefault && { name: "default", importId: "." }),
      changes: { [setting.attribute]: { value: setting.needed, was: `was ${setting.found}` } },
      warnings: warningsOf(setting.attribute, showValue(setting.needed), policy),
    });
  },
};

/** Fields that the provider writes back only in part. */
function problemOf(policy: JsonObject): string | null {
  const attributes = readTexts(policy, excluded);
  const isName = (name: string) => name === "firstName" || name === "lastName";
  if (attributes.kind === "value" ? !attributes.value.every(isName) : attributes.kind === "unreadable") {
    return `Terraform would reset ${excluded}`;
  }
  const days = readNumber(policy, `${password}.breachedProtection.expireAfterDays`);
  const logout = readBoolean(policy, `${password}.breachedProtection.logoutEnabled`);
  const workflow = readText(policy, `${password}.breachedProtection.delegatedWorkflowId`);
  const isWritten = logout.value === true || workflow.value !== null;
  return days.value !== null && !isWritten ? "Terraform would reset settings.password.breachedProtection" : null;
}

function warningsOf(attribute: string, value: string, policy: JsonObject): readonly string[] {
  if (attribute === "password_max_age_days") {
    return ["Users with an older password have to change it at the next sign-in."];
  }
  const unlock = readNumber(policy, settings.password_auto_unlock_minutes);
  if (attribute !== "password_max_lockout_attempts" || unlock.value !== 0) return [];
  return [
    `After ${value} wrong passwords a user stays locked out until an administrator unlocks the account, because the policy ` +
      "has no automatic unlock. Anybody who knows a user name can lock that user out, you included.",
  ];
}
