import { passwordOnly, phishingResistant } from "../objects/access_policies.ts";
import { anywhere, sessionRule } from "../objects/sign_on_policies.ts";
import { fieldOf, found, type Draft } from "./draft.ts";
import { addRule, deleteRule, findPolicy, swapPriorities, updatePolicy } from "./policy_edits.ts";
import {
  adminConsole,
  fieldSetting,
  setting,
  statusSetting,
  thePolicy,
  theRule,
  type Named,
  type Setting,
} from "./setting.ts";
import type { OrgContents, PolicyWithRules, Resource } from "../objects/org_contents.ts";

const temporaryRule = "Temporary access";
const minutes = (value: unknown) => `${String(value)} minutes`;

/** Settings of policies: who gets in, how, and for how long. */
export const policySettings: readonly Setting[] = [
  mfaSetting("Okta Admin Console", "mfa", "the Admin Console"),
  fieldSetting(
    ["Admin Console", "Admin Console: idle time"],
    adminConsole,
    ["sessionIdleTimeoutMinutes"],
    minutes,
    ["admin-idle-long", "Set the Admin Console's idle time to 60 minutes", 60],
    ["admin-idle-short", "Set the Admin Console's idle time to 15 minutes", 15],
  ),
  mfaSetting("Okta Dashboard", "dashboard-mfa", "the Okta Dashboard"),
  sessionSetting("idle time", "maxSessionIdleMinutes", [
    ["session-idle-long", "Let sessions idle for 120 minutes", 120],
    ["session-idle-short", "Let sessions idle for 15 minutes", 15],
  ]),
  sessionSetting("lifetime", "maxSessionLifetimeMinutes", [
    ["session-lifetime-long", "Let sessions live for 48 hours", 2880],
    ["session-lifetime-short", "Let sessions live for 18 hours", 1080],
  ]),
  sessionSetting("persistent cookies", "usePersistentCookie", [
    ["persistent-cookies-on", "Keep session cookies when the browser closes", true],
    ["persistent-cookies-off", "Drop session cookies when the browser closes", false],
  ]),
  setting<boolean>(
    ["Global session", "Global session: rules"],
    (contents) => {
      const { policy, rules } = sessionPolicy(contents);
      return `${policy.name}: ${rules.map((rule) => String(rule["name"])).join(", ")}`;
    },
    (draft, isThere) => {
      const lax = { priority: 1, idleMinutes: 480, lifetimeMinutes: 0, persistentCookie: true, network: anywhere };
      const parent = sessionPolicy(draft.contents);
      if (isThere) addRule(draft, parent, sessionRule({ name: temporaryRule, ...lax }));
      else deleteRule(draft, parent, temporaryRule);
    },
    ["session-rule-added", "Add a lax rule for sessions before all others", true],
    ["session-rule-deleted", "Delete that rule", false],
  ),
  statusSetting(
    ["Global session", "Global session: a separate rule"],
    theRule(ownRulePolicy, ({ rules }) => found(rules.find(isOwnRule), "separate session rule")),
    ["session-rule-off", "Switch off a session rule"],
    ["session-rule-on", "Switch on a session rule"],
  ),
  setting<boolean>(
    ["Global session", "Global session: order of policies"],
    (contents) => {
      const [one, other] = orderedPair(contents);
      const isFirst = Number(one.policy["priority"]) < Number(other.policy["priority"]);
      return (isFirst ? [one, other] : [other, one]).map(({ policy }) => policy.name).join(" before ");
    },
    reorder,
    ["session-policies-reordered", "Move the first session policy down", true],
    ["session-policies-restored", "Move it up again", false],
  ),
  passwordSetting("length", "complexity.minLength", [
    ["password-length-short", "Accept passwords of 8 characters", 8],
    ["password-length-long", "Ask for passwords of 15 characters", 15],
  ]),
  passwordSetting("history", "age.historyCount", [
    ["password-history-short", "Remember 2 old passwords", 2],
    ["password-history-long", "Remember 5 old passwords", 5],
  ]),
  passwordSetting("age", "age.maxAgeDays", [
    ["password-age-unlimited", "Let passwords live without an end", 0],
    ["password-age-limited", "Let passwords live for 60 days", 60],
  ]),
  passwordSetting("attempts before lockout", "lockout.maxAttempts", [
    ["lockout-lax", "Lock accounts after 10 wrong passwords", 10],
    ["lockout-strict", "Lock accounts after 3 wrong passwords", 3],
  ]),
  passwordSetting("common passwords refused", "complexity.dictionary.common.exclude", [
    ["common-passwords-allowed", "Accept common passwords", false],
    ["common-passwords-refused", "Refuse common passwords", true],
  ]),
  statusSetting(
    ["Automations", "Automation for inactive users"],
    thePolicy(automation),
    ["automation-off", "Switch off the automation for inactive users"],
    ["automation-on", "Switch on the automation for inactive users"],
  ),
  fieldSetting(
    ["Automations", "Inactivity before suspension"],
    thePolicy(automation),
    ["conditions", "people", "users", "inactivity", "number"],
    (value) => `${String(value)} days`,
    ["automation-late", "Suspend users after 90 days", 90],
    ["automation-early", "Suspend users after 35 days", 35],
  ),
];

function mfaSetting(policyName: string, name: string, what: string): Setting {
  const area = what.replace("the ", "");
  return fieldSetting(
    [area, `${area}: sign-in`],
    theRule((contents) => findPolicy(contents, "ACCESS_POLICY", policyName)),
    ["actions", "appSignOn", "verificationMethod"],
    (method, rule) => {
      const isResistant = JSON.stringify(method).includes('"phishingResistant":"REQUIRED"');
      const factors = fieldOf(method, ["factorMode"]) === "1FA" ? "a password alone" : "two factors";
      return `${rule.replace(`${policyName}, `, "")}: ${isResistant ? "phishing-resistant factors" : factors}`;
    },
    [`${name}-off`, `Turn off MFA for ${what}`, passwordOnly],
    [`${name}-on`, `Turn on MFA for ${what}`, phishingResistant],
  );
}

function sessionSetting(label: string, field: string, values: readonly [Named<unknown>, Named<unknown>]): Setting {
  return fieldSetting(
    ["Global session", `Global session: ${label}`],
    theRule(sessionPolicy),
    ["actions", "signon", "session", field],
    (value, rule) => `${rule}: ${typeof value === "boolean" ? onOrOff(value) : minutes(value)}`,
    ...values,
  );
}

/** For the default policy, which holds for everyone whom no other names. */
function passwordSetting(label: string, field: string, values: readonly [Named<unknown>, Named<unknown>]): Setting {
  return fieldSetting(
    ["Passwords", `Passwords: ${label}`],
    thePolicy((contents) => findPolicy(contents, "PASSWORD", "Default Policy")),
    ["settings", "password", ...field.split(".")],
    (value) => (typeof value === "boolean" ? onOrOff(value) : String(value)),
    ...values,
  );
}

function onOrOff(isOn: boolean): string {
  return isOn ? "on" : "off";
}

/** For everyone whom no other policy names. */
function sessionPolicy(contents: OrgContents): PolicyWithRules {
  return findPolicy(contents, "OKTA_SIGN_ON", "Default Policy");
}

/** A rule that people made: the built-in one cannot be switched off. */
function isOwnRule(rule: Resource): boolean {
  return rule["system"] !== true && rule["name"] !== temporaryRule;
}

/** That policy, or the first that has such a rule. */
function ownRulePolicy(contents: OrgContents): PolicyWithRules {
  const others = contents.policies.filter(({ policy }) => policy.type === "OKTA_SIGN_ON");
  const parent = [sessionPolicy(contents), ...others].find(({ rules }) => rules.some(isOwnRule));
  return found(parent, "separate session rule");
}

/** The first two session policies as the org had them at its start; the built-in one always comes last. */
function orderedPair(contents: OrgContents): readonly [PolicyWithRules, PolicyWithRules] {
  const own = contents.policies.filter(({ policy }) => policy.type === "OKTA_SIGN_ON" && policy["system"] !== true);
  return [found(own[0], "separate session policy"), found(own[1], "second separate session policy")];
}

function reorder(draft: Draft, isMovedDown: boolean): void {
  const [one, other] = orderedPair(draft.contents);
  const isDown = Number(one.policy["priority"]) > Number(other.policy["priority"]);
  // The edit of a policy that is where it should be changes nothing, and is refused.
  if (isDown === isMovedDown) updatePolicy(draft, one, (policy) => policy);
  swapPriorities(draft, one, other);
}

/** The one that is on at the start, or the first. */
function automation(contents: OrgContents): PolicyWithRules {
  return found(
    contents.policies.find(({ policy }) => policy.type === "USER_LIFECYCLE"),
    "automation",
  );
}
