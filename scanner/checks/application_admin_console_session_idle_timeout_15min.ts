import { decide, defineCheck } from "./check.ts";
import { Subject } from "./evaluating/finding_drafts.ts";
import { most, type Setting, expectationOf, judgeSetting, showLimit, upTo } from "./parameter.ts";

const setting: Setting = {
  path: "sessionIdleTimeoutMinutes",
  limit: most("admin_console_idle_minutes", "minutes", 15, { max: 43_200 }),
  expected: (minutes) => `a maximum app session idle time of ${upTo(minutes, "minute")}`,
  show: (minutes) => showLimit(minutes, "minute"),
};

export const applicationAdminConsoleSessionIdleTimeout = defineCheck({
  name: "application_admin_console_session_idle_timeout_15min",
  setting,
  artifacts: ["admin_console_settings"],
  decidingFields: [decide("admin_console_settings", [setting.path])],
  evaluate({ admin_console_settings: settings }, { parameters: values }) {
    const resource = { type: "app", id: "admin-console", name: "Okta Admin Console" };
    const subject = new Subject(resource, expectationOf(setting, values));
    if (settings.state === "missing") return [subject.missing(settings)];
    return [judgeSetting(subject, settings.value, { setting, values })];
  },
});
