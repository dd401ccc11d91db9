import { decide, defineCheck } from "./check.ts";
import { Subject } from "./evaluating/finding_drafts.ts";
import { expectationOf, judgeSetting, settingCheck, type ExplainedSetting } from "./evaluating/setting.ts";
import { most } from "./parameter.ts";
import { showMinutes } from "./parsing/fields.ts";

const setting: ExplainedSetting = {
  name: "application_admin_console_session_idle_timeout_15min",
  path: "sessionIdleTimeoutMinutes",
  limit: most("admin_console_idle_minutes", "minutes", 15, { max: 43_200 }),
  expected: (minutes) => `a maximum app session idle time of 1 to ${minutes} minutes`,
  show: showMinutes,
  examines: "How long a session of the Admin Console may be idle, independent of the global session.",
  why: "An administrator's unattended browser is the most valuable target.",
  disa: 'If the "Maximum app session idle time" is not set to 15 minutes, this is a finding.',
  passes: "`sessionIdleTimeoutMinutes` of the Admin Console is 1 to 15",
  console: 'On the Sign On tab, under "Okta Admin Console session", set "Maximum app session idle time" to 15 minutes',
};

export const applicationAdminConsoleSessionIdleTimeout = defineCheck({
  ...settingCheck(setting, {
    rests_on: [
      `PASS: ${setting.passes}.`,
      "Okta shows this setting to Super Administrators only: below, it is MANUAL (`missing_role`). Read it in the console and attest it.",
    ],
    fix: ["Open Applications > Applications > Okta Admin Console", setting.console],
    deciding_fields: [decide("admin_console_settings", [setting.path])],
  }),
  artifacts: ["admin_console_settings"],
  evaluate({ admin_console_settings: settings }, { parameters: values }) {
    const resource = { type: "app", id: "admin-console", name: "Okta Admin Console" };
    const subject = new Subject(resource, expectationOf(setting, values));
    if (settings.state === "missing") return [subject.missing(settings)];
    return [judgeSetting(subject, settings.value, { setting, values })];
  },
});
