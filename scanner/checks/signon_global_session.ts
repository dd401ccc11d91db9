import { decide, defineCheck, everyoneGroup, rulesForEverybody, type Check, type FindingDraft } from "./check.ts";
import type { JsonObject } from "../../shared/json.ts";
import { notSet, type Subject } from "./evaluating/finding_drafts.ts";
import { showMinutes, showValue } from "./parsing/fields.ts";
import { expectationOf, judgeSetting, settingCheck, type ExplainedSetting } from "./evaluating/setting.ts";
import { most } from "./parameter.ts";
import { isBuiltIn } from "./parsing/rule_order.ts";
import { groupsOfSessionRules, judgeSessionPolicies } from "./evaluating/session_policies.ts";
import { nameOf } from "./parsing/names.ts";

const atPriorityOne = 'an active rule at priority 1, not the built-in "Default Rule",';

/** `path` is below `actions.signon.session`. */
const settings: readonly ExplainedSetting[] = [
  {
    name: "signon_global_session_idle_timeout_15min",
    limit: most("global_session_idle_minutes", "minutes", 15, { max: 43_200 }),
    expected: (minutes) => `${atPriorityOne} with a maximum idle time of 1 to ${minutes} minutes`,
    path: "maxSessionIdleMinutes",
    show: showMinutes,
    examines: "How long a global session may be idle before Okta ends it, in the deciding rule of every active policy.",
    why:
      "An unattended browser with a live session opens every app behind it. A custom policy applies to its users " +
      "regardless of the Default Policy, so every active policy is evaluated.",
    disa: 'If "Maximum Okta global session idle time" is not set to 15 minutes, this is a finding.',
    passes: "`maxSessionIdleMinutes` is 1 to 15; 0 means that an idle session never ends",
    console: 'Set "Maximum Okta global session idle time" to 15 minutes and save',
  },
  {
    name: "signon_global_session_lifetime_18h",
    limit: most("global_session_lifetime_minutes", "minutes", 1080, { max: 525_600 }),
    expected: (minutes) =>
      `${atPriorityOne} with a maximum session lifetime of 1 to ${minutes} minutes${minutes === 1080 ? " (18 hours)" : ""}`,
    path: "maxSessionLifetimeMinutes",
    show: showMinutes,
    examines: "How long a global session may last in total, in the deciding rule of every active policy.",
    why: "A session without an end never asks for a password again, so a stolen session stays usable.",
    disa: 'Verify "Maximum Okta global session lifetime" is set to 18 hours.',
    passes: "`maxSessionLifetimeMinutes` is 1 to 1080; 0, Okta's default, means no limit",
    more: ["Not covered: sessions that applications keep for themselves."],
    console: 'Set "Maximum Okta global session lifetime" to 18 hours and save',
  },
  {
    name: "signon_global_session_cookies_not_persistent",
    isOn: false,
    expected: () => `${atPriorityOne} whose session cookies do not persist`,
    path: "usePersistentCookie",
    show: (isPersistent) => (isPersistent ? "persistent session cookies" : "no persistent session cookies"),
    examines: "Whether the session cookie outlives the browser, in the deciding rule of every active policy.",
    why: "A persistent cookie leaves a session on the disk of a shared or lost machine after the browser is closed.",
    disa: 'Verify "Okta global session cookies persist across browser sessions" is set to "Disabled".',
    passes: "`usePersistentCookie` is exactly false",
    more: ["Not covered: cookies of applications, and browsers that restore sessions."],
    console: 'Set "Okta global session cookies persist across browser sessions" to Disabled and save',
  },
];

export const globalSessionChecks: readonly Check[] = settings.map(sessionCheck);

function sessionCheck({ path, ...given }: ExplainedSetting): Check {
  const setting: ExplainedSetting = { ...given, path: `actions.signon.session.${path}` };
  return defineCheck({
    ...settingCheck(setting, {
      rests_on: [
        `PASS: in every active policy the active rule at priority 1 is not the built-in one, and its ${setting.passes}. Later rules count by ` +
          "value: the Default Rule may come last if it complies.",
        "A rule that denies gives no session, so the first rule that allows decides. An inactive rule at priority 1 is MANUAL " +
          "(`needs_review`) where the next rule complies.",
        "A custom policy without active rules, which Okta does not consider, is left out and named. The Default Policy needs one: a list " +
          "without it is a part, and MANUAL (`missing_role`).",
        "Left to a person: a later, laxer rule makes the result MANUAL (`partly_automated`) and is named. Verify that nobody reaches it.",
        ...(setting.more ?? []),
      ],
      fix: [
        "Open Security > Global Session Policy in the Admin Console",
        "Open each active policy, the Default Policy first",
        'Add a rule, or edit the one at priority 1 (it must not be the built-in "Default Rule")',
        setting.console,
      ],
      deciding_fields: [
        decide("global_session_policies", ["status", "system"]),
        decide("policyRules", ["status", "priority", "system", "name", "actions.signon.access"]),
        rulesForEverybody,
        everyoneGroup,
        decide("policyRules", [setting.path]),
      ],
    }),
    artifacts: ["global_session_policies"],
    conditionalArtifacts: groupsOfSessionRules,
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
  });
}

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
