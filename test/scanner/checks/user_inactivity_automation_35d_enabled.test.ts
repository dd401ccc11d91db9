import { describe, expect, test } from "vitest";
import {
  missing,
  obtained,
  type CollectedArtifacts,
  type Evidence,
  type JsonList,
} from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { findCheck } from "../../../scanner/catalog/select_checks.ts";
import {
  aPasswordPolicy,
  anAction,
  anApp,
  anAutomation,
  evaluate,
  outcomeOf,
  set,
} from "../../support/artifact_builders.ts";

const check = "user_inactivity_automation_35d_enabled";
const inactivity = "conditions.people.users.inactivity";

describe("one automation", () => {
  test.each<[path: string, value: unknown, outcome: string]>([
    [`${inactivity}.number`, 35, "PASS"],
    [`${inactivity}.number`, 36, "FAIL"],
    [`${inactivity}.number`, 0, "FAIL"],
    [`${inactivity}.number`, null, "FAIL"],
    [`${inactivity}.number`, "35", "unreadable"],
    [inactivity, { number: 5, unit: "WEEKS" }, "PASS"],
    [inactivity, { number: 6, unit: "WEEKS" }, "FAIL"],
    [inactivity, { number: 840, unit: "HOURS" }, "PASS"],
    [inactivity, { number: 841, unit: "HOURS" }, "FAIL"],
    [inactivity, { number: 35, unit: "days" }, "PASS"],
    [inactivity, { number: 35 }, "FAIL"],
    [inactivity, { number: 35, unit: 1 }, "unreadable"],
    [inactivity, "35 DAYS", "unreadable"],
    ["conditions.people.groups.include", [], "FAIL"],
    ["status", "INACTIVE", "FAIL"],
    ["status", 1, "unreadable"],
  ])("with %s = %j is %s", (path, value, outcome) => {
    expect(outcomeOf(judge([[set(anAutomation(), path, value), [anAction()]]]))).toBe(outcome);
  });

  test.each<[path: string, value: unknown, outcome: string]>([
    ["actions.updateUserLifecycle.targetStatus", "SUSPENDED", "PASS"],
    ["actions.updateUserLifecycle.targetStatus", "DEACTIVATED", "PASS"],
    ["actions.updateUserLifecycle.targetStatus", "DEPROVISIONED", "PASS"],
    ["actions.updateUserLifecycle.targetStatus", "ACTIVE", "FAIL"],
    ["actions.updateUserLifecycle.targetStatus", null, "FAIL"],
    ["actions.updateUserLifecycle.targetStatus", "FROZEN", "unreadable"],
    ["actions.updateUserLifecycle", [], "unreadable"],
  ])("whose action has %s = %j is %s", (path, value, outcome) => {
    expect(outcomeOf(judge([[anAutomation(), [set(anAction(), path, value)]]]))).toBe(outcome);
  });

  test("without an action FAILs", () => {
    expect(judge([[anAutomation(), []]]).status).toBe("FAIL");
  });

  test("that complies lists its groups", () => {
    const result = judge([[anAutomation(), [anAction()]]]);
    expect(result.findings).toMatchObject([
      { resource: { type: "automation", id: "rstAuto", name: "User Inactivity" } },
    ]);
    expect(result.detail).toMatch(/for the group 00gEveryone/);
    expect(result.findings).toMatchObject([
      { automated: "PASS", detail: expect.stringMatching(/every user/) as unknown },
    ]);
  });
});

describe("several automations", () => {
  const late = set(anAutomation({ id: "rstLate", name: "Late" }), `${inactivity}.number`, 90);
  const idle = { ...late, id: "rstIdle", name: "Idle", status: "INACTIVE", conditions: {} };

  test("one that complies is enough, and is the finding", () => {
    const result = judge([
      [late, [anAction()]],
      [anAutomation(), [anAction({ status: "INACTIVE", id: "a" }), anAction()]],
    ]);
    expect(result.findings).toMatchObject([{ automated: "PASS", resource: { name: "User Inactivity / Suspend" } }]);
  });

  test("the closest one FAILs with every missing piece", () => {
    const result = judge([
      [idle, []],
      [set(late, "conditions.people.groups", undefined), [anAction()]],
    ]);
    expect(result.findings).toMatchObject([{ status: "FAIL", resource: { id: "rstLate" } }]);
    expect(result.findings[0]?.actual).toMatch(/inactivity of 90 days/);
    expect(result.findings[0]?.actual).toMatch(/no groups/);
  });

  test("none is one FAIL for the org", () => {
    expect(judge([]).findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });

  test.each([
    ["its action", [anAutomation(), [{}]]],
    ["itself, without an action", [{}, []]],
  ] as const)("one of which nothing is known (%s) is no evidence", (_, pair) => {
    expect(outcomeOf(judge([pair]))).toBe("unreadable");
  });

  test.each([[{}], [nothing]])(
    "%j among the automations, whose rules cannot be asked for, comes after a directory",
    (entry) => {
      const rules: Evidence<JsonList> = missing("unreadable", "no usable id");
      const judgeWith = (directory: CollectedArtifacts) =>
        evaluate(check, {
          user_lifecycle_policies: obtained([{ policy: entry, rules }]),
          ...noDirectory,
          ...directory,
        });
      expect(outcomeOf(judgeWith({}))).toBe("unreadable");
      const app = { apps: obtained([anApp({ name: "active_directory" })]) };
      expect(outcomeOf(judgeWith(app))).toBe("needs_review");
    },
  );

  test("rules that are missing keep the others from FAILing, not from PASSing", () => {
    const refused: Evidence<JsonList> = missing("provider_error", "GET rules: 500");
    const lacking = [
      { policy: late, rules: obtained([anAction()]) },
      { policy: anAutomation(), rules: refused },
    ];
    const result = evaluate(check, { user_lifecycle_policies: obtained(lacking), ...noDirectory });
    expect(outcomeOf(result)).toBe("provider_error");
    const compliant = [...lacking, { policy: anAutomation({ id: "rst3" }), rules: obtained([anAction()]) }];
    expect(evaluate(check, { user_lifecycle_policies: obtained(compliant) }).automated).toBe("PASS");
  });
});

describe("a directory that sources users", () => {
  test.each<[what: string, directory: CollectedArtifacts, outcome: string]>([
    ["Active Directory", { apps: obtained([anApp({ name: "active_directory" })]) }, "needs_review"],
    [
      "an inactive Active Directory",
      { apps: obtained([anApp({ name: "active_directory", status: "INACTIVE" })]) },
      "FAIL",
    ],
    ["LDAP", { apps: obtained([anApp({ name: "ldap_sun_one" })]) }, "needs_review"],
    ["the LDAP interface, which sources no user", { apps: obtained([anApp({ name: "ldap_interface" })]) }, "FAIL"],
    ["LDAP's password policy", { password_policies: obtained([directoryPolicy("LDAP")]) }, "not_applicable"],
    [
      "an inactive password policy",
      { password_policies: obtained([{ ...directoryPolicy("LDAP"), status: "INACTIVE" }]) },
      "FAIL",
    ],
    ["apps refused", { apps: missing("missing_scope", "apps.read") }, "missing_scope"],
    [
      "apps that broke off after it",
      { apps: missing("provider_error", "", [anApp({ name: "active_directory" })]) },
      "needs_review",
    ],
    [
      "its password policy in a list that broke off",
      { password_policies: missing("provider_error", "", [directoryPolicy("LDAP")]) },
      "needs_review",
    ],
    [
      "a password policy of an unknown provider",
      { password_policies: obtained([directoryPolicy("SUN")]) },
      "unreadable",
    ],
    [
      "its password policy of unknown status",
      { password_policies: obtained([{ ...directoryPolicy("LDAP"), status: "RESTING" }, aPasswordPolicy()]) },
      "unreadable",
    ],
    ["{} among the password policies", { password_policies: obtained([aPasswordPolicy(), {}]) }, "unreadable"],
    ["{} among the apps", { apps: obtained([anApp(), {}]) }, "unreadable"],
    ["{} and Active Directory", { apps: obtained([{}, anApp({ name: "active_directory" })]) }, "needs_review"],
    [
      "Active Directory of unknown status",
      { apps: obtained([anApp({ name: "active_directory", status: "RESTING" })]) },
      "unreadable",
    ],
    ["nothing asked", { apps: undefined }, "provider_error"],
  ])("$0: $2", (_, directory, outcome) => {
    const result = evaluate(check, { user_lifecycle_policies: obtained([]), ...noDirectory, ...directory });
    expect(outcomeOf(result)).toBe(outcome);
  });

  test("is named, and so are the password policies that are Okta's own", () => {
    const result = evaluate(check, {
      user_lifecycle_policies: obtained([]),
      apps: obtained([anApp({ name: "active_directory", label: "corp.example" })]),
      password_policies: obtained([aPasswordPolicy({ name: "Contractors" }), directoryPolicy("LDAP")]),
    });
    for (const name of ["corp.example", "Contractors", "Directory Policy"]) expect(result.detail).toContain(name);
  });

  test("comes before an automation that cannot be read", () => {
    const unread = set(anAutomation(), `${inactivity}.unit`, "MOONS");
    const policies = { user_lifecycle_policies: obtained([{ policy: unread, rules: obtained([anAction()]) }]) };
    const judgeWith = (directory: CollectedArtifacts) => evaluate(check, { ...policies, ...noDirectory, ...directory });
    expect(outcomeOf(judgeWith({}))).toBe("unreadable");
    const app = { apps: obtained([anApp({ name: "active_directory" })]) };
    expect(outcomeOf(judgeWith(app))).toBe("needs_review");
    const policy = { password_policies: obtained([directoryPolicy("LDAP")]) };
    expect(outcomeOf(judgeWith(policy))).toBe("not_applicable");
    expect(findCheck(check).conditionalArtifacts(policies)).toEqual(["password_policies"]);
  });

  test("that shows only as an app is invisible to a Read-Only Administrator, as a note of the FAIL says", () => {
    const judgeWith = (apps: JsonList) =>
      evaluate(check, { user_lifecycle_policies: obtained([]), ...noDirectory, apps: obtained(apps) });
    const hint = /cannot see a directory that exists only as an app/;
    expect(judgeWith([anApp()])).toMatchObject({
      status: "FAIL",
      detail: expect.stringMatching(hint) as unknown,
    });
    const seen = judgeWith([anApp({ name: "saasure" })]);
    expect(seen.status).toBe("FAIL");
    expect(seen.detail).not.toMatch(hint);
  });

  test("does not matter where an automation complies", () => {
    const policies = [{ policy: anAutomation(), rules: obtained([anAction()]) }];
    const result = evaluate(check, {
      user_lifecycle_policies: obtained(policies),
      apps: obtained([anApp({ name: "active_directory" })]),
      password_policies: obtained([directoryPolicy("LDAP")]),
    });
    expect(result.automated).toBe("PASS");
  });

  test("is asked about only where it can matter, the cheaper evidence first", () => {
    const { conditionalArtifacts } = findCheck(check);
    const compliant = obtained([{ policy: anAutomation(), rules: obtained([anAction()]) }]);
    expect(conditionalArtifacts({ user_lifecycle_policies: compliant })).toEqual([]);
    expect(conditionalArtifacts({ user_lifecycle_policies: missing("missing_scope", "") })).toEqual([]);
    expect(conditionalArtifacts({ user_lifecycle_policies: obtained([]) })).toEqual(["password_policies"]);
    const passwords = (policy: JsonObject) => ({
      user_lifecycle_policies: obtained([]),
      password_policies: obtained([policy]),
    });
    expect(conditionalArtifacts(passwords(aPasswordPolicy()))).toEqual(["apps"]);
    expect(conditionalArtifacts(passwords(directoryPolicy("LDAP")))).toEqual([]);
  });
});

test("automations that were refused are MANUAL with the reason, whatever the directory", () => {
  const refused = missing<never>("not_available", "401 E0000015");
  const result = evaluate(check, {
    user_lifecycle_policies: refused,
    password_policies: obtained([directoryPolicy("LDAP")]),
  });
  expect(outcomeOf(result)).toBe("not_available");
});

const nothing = null as unknown as JsonObject;
const noDirectory = { apps: obtained([anApp()]), password_policies: obtained([aPasswordPolicy()]) };

function directoryPolicy(provider: string): JsonObject {
  return set(aPasswordPolicy({ id: "00pad", name: "Directory Policy" }), "conditions.authProvider.provider", provider);
}

function judge(automations: readonly (readonly [policy: JsonObject, rules: JsonList])[]) {
  const policies = automations.map(([policy, rules]) => ({ policy, rules: obtained(rules) }));
  return evaluate(check, { user_lifecycle_policies: obtained(policies), ...noDirectory });
}
