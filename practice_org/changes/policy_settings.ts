import { passwordOnly, phishingResistant } from "../objects/access_policies.ts";
import { anywhere, sessionRule } from "../objects/sign_on_policies.ts";
import { fieldOf, found, withField, type Draft } from "./draft.ts";
import {
  addRule,
  deleteRule,
  findPolicy,
  firstRule,
  setRuleStatus,
  swapPriorities,
  updatePolicy,
  updateRule,
} from "./policy_edits.ts";
import { updateConsoleSettings } from "./app_edits.ts";
import type { Change, Setting } from "./setting.ts";
import type { OrgContents, PolicyWithRules, Resource } from "../objects/org_contents.ts";

const temporaryRule = "Temporary access";

/** Settings of policies: who gets in, how, and for how long. */
export const policySettings: readonly Setting[] = [
  mfaSetting("Okta Admin Console", "mfa", "the Admin Console"),
  {
    area: "Admin Console",
    label: "Admin Console: idle time",
    present: ({ adminConsoleSettings }) => `${String(adminConsoleSettings["sessionIdleTimeoutMinutes"])} minutes`,
    changes: [
      { name: "admin-idle-long", label: "Set the Admin Console's idle time to 60 minutes", make: setConsoleIdle(60) },
      { name: "admin-idle-short", label: "Set the Admin Console's idle time to 15 minutes", make: setConsoleIdle(15) },
    ],
  },
  mfaSetting("Okta Dashboard", "dashboard-mfa", "the Okta Dashboard"),
  sessionSetting("idle time", "maxSessionIdleMinutes", [
    { name: "session-idle-long", label: "Let sessions idle for 120 minutes", value: 120 },
    { name: "session-idle-short", label: "Let sessions idle for 15 minutes", value: 15 },
  ]),
  sessionSetting("lifetime", "maxSessionLifetimeMinutes", [
    { name: "session-lifetime-long", label: "Let sessions live for 48 hours", value: 2880 },
    { name: "session-lifetime-short", label: "Let sessions live for 18 hours", value: 1080 },
  ]),
  sessionSetting("persistent cookies", "usePersistentCookie", [
    { name: "persistent-cookies-on", label: "Keep session cookies when the browser closes", value: true },
    { name: "persistent-cookies-off", label: "Drop session cookies when the browser closes", value: false },
  ]),
  {
    area: "Global session",
    label: "Global session: rules",
    present: (contents) => {
      const { policy, rules } = sessionPolicy(contents);
      return `${policy.name}: ${rules.map((rule) => String(rule["name"])).join(", ")}`;
    },
    changes: [
      {
        name: "session-rule-added",
        label: "Add a lax rule for sessions before all others",
        make: (draft) =>
          addRule(draft, sessionPolicy(draft.contents), {
            ...sessionRule({
              name: temporaryRule,
              priority: 1,
              idleMinutes: 480,
              lifetimeMinutes: 0,
              persistentCookie: true,
              network: anywhere,
            }),
          }),
      },
      {
        name: "session-rule-deleted",
        label: "Delete that rule",
        make: (draft) => deleteRule(draft, sessionPolicy(draft.contents), temporaryRule),
      },
    ],
  },
  {
    area: "Global session",
    label: "Global session: a separate rule",
    present: (contents) => {
      const { parent, rule } = ownSessionRule(contents);
      return `${parent.policy.name}, ${String(rule["name"])}: ${String(rule["status"])}`;
    },
    changes: [
      { name: "session-rule-off", label: "Switch off a session rule", make: setSessionRule("INACTIVE") },
      { name: "session-rule-on", label: "Switch on a session rule", make: setSessionRule("ACTIVE") },
    ],
  },
  {
    area: "Global session",
    label: "Global session: order of policies",
    present: (contents) => {
      const [one, other] = orderedPair(contents);
      const isFirst = Number(one.policy["priority"]) < Number(other.policy["priority"]);
      return (isFirst ? [one, other] : [other, one]).map(({ policy }) => policy.name).join(" before ");
    },
    changes: [
      { name: "session-policies-reordered", label: "Move the first session policy down", make: reorder(true) },
      { name: "session-policies-restored", label: "Move it up again", make: reorder(false) },
    ],
  },
  passwordSetting(
    "length",
    ["complexity", "minLength"],
    [
      { name: "password-length-short", label: "Accept passwords of 8 characters", value: 8 },
      { name: "password-length-long", label: "Ask for passwords of 15 characters", value: 15 },
    ],
  ),
  passwordSetting(
    "history",
    ["age", "historyCount"],
    [
      { name: "password-history-short", label: "Remember 2 old passwords", value: 2 },
      { name: "password-history-long", label: "Remember 5 old passwords", value: 5 },
    ],
  ),
  passwordSetting(
    "age",
    ["age", "maxAgeDays"],
    [
      { name: "password-age-unlimited", label: "Let passwords live without an end", value: 0 },
      { name: "password-age-limited", label: "Let passwords live for 60 days", value: 60 },
    ],
  ),
  passwordSetting(
    "attempts before lockout",
    ["lockout", "maxAttempts"],
    [
      { name: "lockout-lax", label: "Lock accounts after 10 wrong passwords", value: 10 },
      { name: "lockout-strict", label: "Lock accounts after 3 wrong passwords", value: 3 },
    ],
  ),
  passwordSetting(
    "common passwords refused",
    ["complexity", "dictionary", "common", "exclude"],
    [
      { name: "common-passwords-allowed", label: "Accept common passwords", value: false },
      { name: "common-passwords-refused", label: "Refuse common passwords", value: true },
    ],
  ),
];

function mfaSetting(policyName: string, name: string, what: string): Setting {
  const setVerification = (verification: unknown) => (draft: Draft) => {
    const parent = findPolicy(draft.contents, "ACCESS_POLICY", policyName);
    updateRule(draft, parent, firstRule(parent), (rule) =>
      withField(rule, ["actions", "appSignOn", "verificationMethod"], verification),
    );
  };
  return {
    area: what.replace("the ", ""),
    label: `${what.replace("the ", "")}: sign-in`,
    present: (contents) => {
      const rule = firstRule(findPolicy(contents, "ACCESS_POLICY", policyName));
      const method = fieldOf(rule, ["actions", "appSignOn", "verificationMethod"]);
      const isResistant = JSON.stringify(method).includes('"phishingResistant":"REQUIRED"');
      const factors = fieldOf(method, ["factorMode"]) === "1FA" ? "a password alone" : "two factors";
      return `${String(rule["name"])}: ${isResistant ? "phishing-resistant factors" : factors}`;
    },
    changes: [
      { name: `${name}-off`, label: `Turn off MFA for ${what}`, make: setVerification(passwordOnly) },
      { name: `${name}-on`, label: `Turn on MFA for ${what}`, make: setVerification(phishingResistant) },
    ],
  };
}

interface Value extends Pick<Change, "name" | "label"> {
  readonly value: number | boolean;
}

function sessionSetting(label: string, field: string, values: readonly [Value, Value]): Setting {
  const path = ["actions", "signon", "session", field];
  const toChange = ({ name, label: text, value }: Value): Change => ({
    name,
    label: text,
    make(draft) {
      const parent = sessionPolicy(draft.contents);
      updateRule(draft, parent, firstRule(parent), (rule) => withField(rule, path, value));
    },
  });
  return {
    area: "Global session",
    label: `Global session: ${label}`,
    present: (contents) => {
      const parent = sessionPolicy(contents);
      const rule = firstRule(parent);
      const value = fieldOf(rule, path);
      const shown = typeof value === "boolean" ? onOrOff(value) : `${String(value)} minutes`;
      return `${parent.policy.name}, ${String(rule["name"])}: ${shown}`;
    },
    changes: [toChange(values[0]), toChange(values[1])],
  };
}

/** For the default policy, which holds for everyone whom no other names. */
function passwordSetting(label: string, field: readonly string[], values: readonly [Value, Value]): Setting {
  const path = ["settings", "password", ...field];
  const policyOf = (contents: OrgContents) => findPolicy(contents, "PASSWORD", "Default Policy");
  const toChange = ({ name, label: text, value }: Value): Change => ({
    name,
    label: text,
    make: (draft) => updatePolicy(draft, policyOf(draft.contents), (policy) => withField(policy, path, value)),
  });
  return {
    area: "Passwords",
    label: `Passwords: ${label}`,
    present: (contents) => {
      const value = fieldOf(policyOf(contents).policy, path);
      return typeof value === "boolean" ? onOrOff(value) : String(value);
    },
    changes: [toChange(values[0]), toChange(values[1])],
  };
}

function onOrOff(isOn: boolean): string {
  return isOn ? "on" : "off";
}

function setConsoleIdle(minutes: number) {
  return (draft: Draft) =>
    updateConsoleSettings(draft, (settings) => ({ ...settings, sessionIdleTimeoutMinutes: minutes }));
}

/** For everyone whom no other policy names. */
function sessionPolicy(contents: OrgContents): PolicyWithRules {
  return findPolicy(contents, "OKTA_SIGN_ON", "Default Policy");
}

/** A rule that people made, of that policy or of the first that has one: the built-in one cannot be switched off. */
function ownSessionRule(contents: OrgContents): { readonly parent: PolicyWithRules; readonly rule: Resource } {
  const isOwn = (rule: Resource) => rule["system"] !== true && rule["name"] !== temporaryRule;
  const others = contents.policies.filter(({ policy }) => policy.type === "OKTA_SIGN_ON");
  const parent = found(
    [sessionPolicy(contents), ...others].find(({ rules }) => rules.some(isOwn)),
    "separate session rule",
  );
  return { parent, rule: found(parent.rules.find(isOwn), "separate session rule") };
}

function setSessionRule(status: "ACTIVE" | "INACTIVE") {
  return (draft: Draft) => {
    const { parent, rule } = ownSessionRule(draft.contents);
    setRuleStatus(draft, parent, rule, status);
  };
}

/** The first two session policies as the org had them at its start; the built-in one always comes last. */
function orderedPair(contents: OrgContents): readonly [PolicyWithRules, PolicyWithRules] {
  const own = contents.policies.filter(({ policy }) => policy.type === "OKTA_SIGN_ON" && policy["system"] !== true);
  return [found(own[0], "separate session policy"), found(own[1], "second separate session policy")];
}

function reorder(isMovedDown: boolean) {
  return (draft: Draft) => {
    const [one, other] = orderedPair(draft.contents);
    const isDown = Number(one.policy["priority"]) > Number(other.policy["priority"]);
    // The edit of a policy that is where it should be changes nothing, and is refused.
    if (isDown === isMovedDown) updatePolicy(draft, one, (policy) => policy);
    swapPriorities(draft, one, other);
  };
}
