import { decide } from "./deciding_fields.ts";
import { defineCheck } from "./check.ts";
import { judgeField, manualForMissing, type Subject } from "./evaluating/finding_drafts.ts";
import { limitOf, type NumberParameter } from "./parameter.ts";
import { readNumber, showMinutes } from "./parsing/fields.ts";

const idleMinutes: NumberParameter = {
  kind: "number",
  name: "admin_console_idle_minutes",
  unit: "minutes",
  stigValue: 15,
  stricter: "less",
  most: 43_200,
};

export const applicationAdminConsoleSessionIdleTimeout = defineCheck({
  name: "application_admin_console_session_idle_timeout_15min",
  artifacts: ["admin_console_settings"],
  parameters: [idleMinutes],
  explanation: {
    examines: "How long a session of the Admin Console may be idle, independent of the global session.",
    why: "An administrator's unattended browser is the most valuable target. Okta shows this setting to Super Administrators only.",
    fix: [
      "Open Applications > Applications > Okta Admin Console",
      'On the Sign On tab, under "Okta Admin Console session", set "Maximum app session idle time" to 15 minutes',
    ],
    deciding_fields: [decide("admin_console_settings", ["sessionIdleTimeoutMinutes"])],
  },
  evaluate({ admin_console_settings: settings }, { parameters }) {
    const most = limitOf(idleMinutes, parameters);
    const subject: Subject = {
      resource: { type: "app", id: "admin-console", name: "Okta Admin Console" },
      expected: `a maximum app session idle time of 1 to ${most} minutes`,
    };
    if (settings.state === "missing") return [manualForMissing(subject, settings)];
    const minutes = readNumber(settings.value, "sessionIdleTimeoutMinutes");
    return [
      judgeField(subject, minutes, {
        isCompliant: (value) => value >= 1 && value <= most,
        show: showMinutes,
      }),
    ];
  },
});
