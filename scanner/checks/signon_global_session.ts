import { decide, everyoneGroup, rulesForEverybody } from "./deciding_fields.ts";
import type { JsonObject } from "../../shared/json.ts";
import { defineCheck, type Check, type Explanation, type FindingDraft, type DecidingFields } from "./check.ts";
import { fail, judgeField, type Subject, unreadable } from "./evaluating/finding_drafts.ts";
import { readBoolean, readNumber, showMinutes, showValue, type Field } from "./parsing/fields.ts";
import { settingOf } from "./evaluating/setting.ts";
import { limitOf, type NumberParameter } from "./parameter.ts";
import { isBuiltIn } from "./parsing/rule_order.ts";
import { groupsOfSessionRules, judgeSessionPolicies } from "./evaluating/session_policies.ts";
import { nameOf } from "./parsing/names.ts";

const atPriorityOne = 'an active rule at priority 1, not the built-in "Default Rule",';

const fixSteps = [
  "Open Security > Global Session Policy in the Admin Console",
  "Open each active policy, the Default Policy first",
  'Add a rule, or edit the one at priority 1 (it must not be the built-in "Default Rule")',
];

const idleTimeout = sessionCheck({
  name: "signon_global_session_idle_timeout_15min",
  parameter: {
    kind: "number",
    name: "global_session_idle_minutes",
    unit: "minutes",
    stigValue: 15,
    stricter: "less",
    most: 43_200,
  },
  expected: (minutes) => `${atPriorityOne} with a maximum idle time of 1 to ${minutes} minutes`,
  field: "maxSessionIdleMinutes",
  read: readNumber,
  isCompliant: (minutes, most) => minutes >= 1 && minutes <= most,
  show: showMinutes,
  explanation: {
    examines: "How long a global session may be idle before Okta ends it, in the deciding rule of every active policy.",
    why:
      "An unattended browser with a live session opens every app behind it. A custom policy applies to its users " +
      "regardless of the Default Policy, so every active policy is evaluated. 0 means that an idle session never ends. " +
      "A rule that denies gives no session, so the first rule that allows decides. If it has conditions, everybody else reaches the " +
      "later rules: if one of them is less strict, the result is MANUAL and names it.",
    fix: [...fixSteps, 'Set "Maximum Okta global session idle time" to 15 minutes and save'],
    deciding_fields: decidingFields("maxSessionIdleMinutes"),
  },
});

const lifetime = sessionCheck({
  name: "signon_global_session_lifetime_18h",
  parameter: {
    kind: "number",
    name: "global_session_lifetime_minutes",
    unit: "minutes",
    stigValue: 1080,
    stricter: "less",
    most: 525_600,
  },
  expected: (minutes) =>
    `${atPriorityOne} with a maximum session lifetime of 1 to ${minutes} minutes${minutes === 1080 ? " (18 hours)" : ""}`,
  field: "maxSessionLifetimeMinutes",
  read: readNumber,
  isCompliant: (minutes, most) => minutes >= 1 && minutes <= most,
  show: showMinutes,
  explanation: {
    examines: "How long a global session may last in total, in the deciding rule of every active policy.",
    why:
      "A session without an end never asks for a password again, so a stolen session stays usable. " +
      "0 means no limit, which is Okta's default.",
    fix: [...fixSteps, 'Set "Maximum Okta global session lifetime" to 18 hours and save'],
    deciding_fields: decidingFields("maxSessionLifetimeMinutes"),
  },
});

const cookies = sessionCheck({
  name: "signon_global_session_cookies_not_persistent",
  expected: () => `${atPriorityOne} whose session cookies do not persist`,
  field: "usePersistentCookie",
  read: readBoolean,
  isCompliant: (isPersistent) => !isPersistent,
  show: (isPersistent) => (isPersistent ? "persistent session cookies" : "no persistent session cookies"),
  explanation: {
    examines: "Whether the session cookie outlives the browser, in the deciding rule of every active policy.",
    why: "A persistent cookie leaves a session on the disk of a shared or lost machine after the browser is closed.",
    fix: [...fixSteps, 'Set "Okta global session cookies persist across browser sessions" to Disabled and save'],
    deciding_fields: decidingFields("usePersistentCookie"),
  },
});

export const globalSessionChecks: readonly Check[] = [idleTimeout, lifetime, cookies];

interface SessionSetting<Value> {
  readonly name: string;
  /** Absent: the value has to be false. */
  readonly parameter?: NumberParameter;
  /** Both take the parameter's value; 0 without one. */
  readonly expected: (limit: number) => string;
  /** Under `actions.signon.session`. */
  readonly field: string;
  readonly read: (rule: JsonObject, path: string) => Field<Value>;
  readonly isCompliant: (value: Value, limit: number) => boolean;
  readonly show: (value: Value) => string;
  readonly explanation: Explanation;
}

function sessionCheck<Value extends number | boolean>(setting: SessionSetting<Value>): Check {
  const { name, parameter, read, isCompliant, show, explanation } = setting;
  const path = `actions.signon.session.${setting.field}`;
  return defineCheck({
    name,
    artifacts: ["global_session_policies"],
    ...(parameter === undefined ? {} : { parameters: [parameter] }),
    setting: settingOf({ path, read, isCompliant, required: parameter ?? false }),
    explanation,
    conditionalArtifacts: groupsOfSessionRules,
    evaluate(artifacts, { parameters }) {
      const limit = parameter === undefined ? 0 : limitOf(parameter, parameters);
      return judgeSessionPolicies(artifacts, {
        expected: setting.expected(limit),
        judgeRule: (subject, rule) => judgeRule(subject, rule, limit),
        judgeFirst: judgeNotBuiltIn,
      });
    },
  });

  function judgeRule(subject: Subject, rule: JsonObject, limit: number) {
    return judgeField(subject, read(rule, path), {
      isCompliant: (value) => isCompliant(value, limit),
      show: (value) => `${show(value)} in rule "${nameOf(rule)}"`,
    });
  }
}

/** DISA asks for a rule at priority 1 that is not the built-in one; the rules after it are judged by their values alone. */
function judgeNotBuiltIn(subject: Subject, rule: JsonObject, draft: FindingDraft | null): FindingDraft | null {
  const isDefault = isBuiltIn(rule);
  if (isDefault === true)
    return fail(subject, `the built-in rule "${nameOf(rule)}" at priority ${showValue(rule["priority"])}`);
  // What it gets wrong is wrong in a built-in rule too.
  if (isDefault === null && draft?.status !== "FAIL")
    return unreadable(subject, `a rule "${nameOf(rule)}" that may be built in`);
  return draft;
}

function decidingFields(setting: string): readonly DecidingFields[] {
  return [
    decide("global_session_policies", ["status", "system"]),
    decide("policyRules", ["status", "priority", "system", "name", "actions.signon.access"]),
    rulesForEverybody,
    everyoneGroup,
    decide("policyRules", [`actions.signon.session.${setting}`]),
  ];
}
