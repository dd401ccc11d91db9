import { decide, defineCheck, everyoneGroup, rulesForEverybody, type Check } from "./check.ts";
import type { JsonObject } from "../../shared/json.ts";
import { notSet, type Subject, type FindingDraft } from "./evaluating/finding_drafts.ts";
import { showValue } from "./parsing/fields.ts";
import { most, type Setting, expectationOf, judgeSetting, showLimit, upTo } from "./parameter.ts";
import { isBuiltIn } from "./parsing/policy_rules.ts";
import { groupsOfSessionRules, judgeSessionPolicies } from "./evaluating/session_policies.ts";
import { nameOf } from "./parsing/names.ts";

const atPriorityOne = 'an active rule at priority 1, not the built-in "Default Rule",';

const settings: Readonly<Record<string, Setting>> = {
  signon_global_session_idle_timeout_15min: {
    path: "actions.signon.session.maxSessionIdleMinutes",
    limit: most("global_session_idle_minutes", "minutes", 15, { max: 43_200 }),
    expected: (minutes) => `${atPriorityOne} with a maximum idle time of ${upTo(minutes, "minute")}`,
    show: (minutes) => showLimit(minutes, "minute"),
  },
  signon_global_session_lifetime_18h: {
    path: "actions.signon.session.maxSessionLifetimeMinutes",
    limit: most("global_session_lifetime_minutes", "minutes", 1080, { max: 525_600 }),
    expected: (minutes) =>
      `${atPriorityOne} with a maximum session lifetime of ${upTo(minutes, "minute")}${minutes === 1080 ? " (18 hours)" : ""}`,
    show: (minutes) => showLimit(minutes, "minute"),
  },
  signon_global_session_cookies_not_persistent: {
    path: "actions.signon.session.usePersistentCookie",
    isOn: false,
    expected: () => `${atPriorityOne} whose session cookies do not persist`,
    show: (isPersistent) => (isPersistent ? "persistent session cookies" : "no persistent session cookies"),
  },
};

export const globalSessionChecks: readonly Check[] = Object.entries(settings).map(([name, setting]) =>
  defineCheck({
    name,
    setting,
    artifacts: ["global_session_policies"],
    conditionalArtifacts: groupsOfSessionRules,
    decidingFields: [
      decide("global_session_policies", ["status", "system"]),
      decide("policyRules", ["status", "priority", "system", "name", "actions.signon.access"]),
      rulesForEverybody,
      everyoneGroup,
      decide("policyRules", [setting.path]),
    ],
    evaluate: (artifacts, { parameters: values }) =>
      judgeSessionPolicies(artifacts, {
        expected: expectationOf(setting, values),
        judgeRule(subject, rule) {
          const draft = judgeSetting(subject, rule, { setting, values });
          const isShown = draft.status !== "MANUAL" && draft.actual !== notSet;
          return isShown ? { ...draft, actual: `${draft.actual} in rule "${nameOf(rule)}"` } : draft;
        },
        judgeFirst: judgeNotBuiltIn,
      }),
  }),
);

/** DISA asks for a rule at priority 1 that is not the built-in one; the rules after it are judged by their values alone. */
function judgeNotBuiltIn(subject: Subject, rule: JsonObject, draft: FindingDraft | null): FindingDraft | null {
  const isDefault = isBuiltIn(rule);
  if (isDefault === true)
    return subject.fail(`the built-in rule "${nameOf(rule)}" at priority ${showValue(rule["priority"])}`);
  // A setting that is wrong in any rule is wrong in a built-in one too.
  if (isDefault === null && draft?.status !== "FAIL")
    return subject.unreadable(`a rule "${nameOf(rule)}" that may be built in`);
  return draft;
}
