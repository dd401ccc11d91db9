import { expect, test } from "vitest";
import { missing, obtained } from "../../../scanner/evidence/artifacts.ts";
import { evaluate, outcomeOf } from "../../support/artifact_builders.ts";

const check = "application_admin_console_session_idle_timeout_15min";

test.each<[minutes: unknown, outcome: string]>([
  [0, "FAIL"],
  [1, "PASS"],
  [15, "PASS"],
  [16, "FAIL"],
  [null, "FAIL"],
  [undefined, "FAIL"],
  ["15", "unreadable"],
])("%j minutes is %s", (sessionIdleTimeoutMinutes, outcome) => {
  const result = evaluate(check, { admin_console_settings: obtained({ sessionIdleTimeoutMinutes }) });
  expect(outcomeOf(result)).toBe(outcome);
  expect(result.findings).toMatchObject([{ resource: { type: "app", name: "Okta Admin Console" } }]);
});

test("a refusal keeps its reason", () => {
  const refused = missing<never>("missing_role", "GET first-party-app-settings was refused with 403 E0000006");
  expect(outcomeOf(evaluate(check, { admin_console_settings: refused }))).toBe("missing_role");
});
