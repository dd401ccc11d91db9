import { expect, test } from "vitest";
import { missing, obtained } from "../../../scanner/evidence/artifacts.ts";
import { evaluate } from "../../support/artifact_builders.ts";

const check = "application_admin_console_session_idle_timeout_15min";

test.each<[minutes: unknown, status: string, reason: string | null]>([
  [0, "FAIL", null],
  [1, "PASS", null],
  [15, "PASS", null],
  [16, "FAIL", null],
  [null, "FAIL", null],
  [undefined, "FAIL", null],
  ["15", "MANUAL", "unreadable"],
])("%j minutes is %s", (sessionIdleTimeoutMinutes, status, reason) => {
  const result = evaluate(check, { admin_console_settings: obtained({ sessionIdleTimeoutMinutes }) });
  expect(result).toMatchObject({ status, reason });
  expect(result.findings).toMatchObject([{ resource: { type: "app", name: "Okta Admin Console" } }]);
});

test("a refusal keeps its reason", () => {
  const refused = missing<never>("missing_role", "GET first-party-app-settings was refused with 403 E0000006");
  expect(evaluate(check, { admin_console_settings: refused })).toMatchObject({
    status: "MANUAL",
    reason: "missing_role",
  });
});
