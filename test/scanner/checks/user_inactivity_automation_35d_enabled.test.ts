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
  anEveryoneGroup,
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
    expect(result.detail).toMatch(/for the group "Everyone"/);
  });

  test.each<[what: string, groups: JsonObject, found: Evidence<JsonList>, reason: string | null]>([
    ["the group Everyone", {}, obtained([anEveryoneGroup()]), null],
    ["another group", { include: ["00g2"] }, obtained([anEveryoneGroup()]), "partly_automated"],
    ["a group, where Everyone is unknown", {}, missing("missing_scope", "groups.read"), "partly_automated"],
    ["a part of Everyone", { exclude: ["00g2"] }, obtained([anEveryoneGroup()]), "partly_automated"],
  ])("for $0 complies, with the reason $3", (_, groups, built_in_groups, reason) => {
    const policy = set(anAutomation(), "conditions.people.groups", { include: ["00gEveryone"], ...groups });
    const policies = obtained([{ policy, rules: obtained([anAction()]) }]);
    const result = evaluate(check, { user_lifecycle_policies: policies, built_in_groups });
    expect([outcomeOf(result), result.reason]).toEqual(["PASS", reason]);
  });

  test("for another group names it", () => {
    const policy = set(anAutomation(), "conditions.people.groups.include", ["00g2"]);
    const evidence = {
      user_lifecycle_policies: obtained([{ policy, rules: obtained([anAction()]) }]),
      built_in_groups: obtained([anEveryoneGroup()]),
      automation_groups: obtained([{ id: "00g2", profile: { name: "Contractors" } }]),
    };
    expect(findCheck(check).conditionalArtifacts(evidence)).toEqual(["automation_groups"]);
    expect(evaluate(check, evidence).detail).toContain('for the group "Contractors"');
  });

  test("for the group Everyone leaves nothing to one for another group", () => {
    const other = set(anAutomation({ id: "rstOther" }), "conditions.people.groups.include", ["00g2"]);
    expect(judge([other, anAutomation()].map((policy) => [policy, [anAction()]])).status).toBe("PASS");
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
    expect(result.findings).toMatchObject([{ status: "PASS", resource: { name: "User Inactivity / Suspend" } }]);
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
    ["Active Directory", { apps: obtained([aDirectory()]) }, "needs_review"],
    ["an inactive Active Directory", { apps: obtained([aDirectory({ status: "INACTIVE" })]) }, "FAIL"],
    ["an app that imports users", { apps: obtained([anApp({ features: ["IMPORT_NEW_USERS"] })]) }, "needs_review"],
    ["an app that receives users", { apps: obtained([anApp({ features: ["PUSH_NEW_USERS"] })]) }, "FAIL"],
    ["a SAML provider that masters profiles", { saml_idps: obtained([aSamlIdp(true)]) }, "needs_review"],
    ["a SAML provider that masters none", { saml_idps: obtained([aSamlIdp(false)]) }, "FAIL"],
    ["an inactive SAML provider", { saml_idps: obtained([{ ...aSamlIdp(true), status: "INACTIVE" }]) }, "FAIL"],
    ["LDAP's password policy", { password_policies: withDefault(directoryPolicy("LDAP")) }, "needs_review"],
    [
      "an inactive password policy",
      { password_policies: withDefault({ ...directoryPolicy("LDAP"), status: "INACTIVE" }) },
      "FAIL",
    ],
    ["password policies without the default one", { password_policies: obtained([]) }, "missing_role"],
    ["apps refused", { apps: missing("missing_scope", "apps.read") }, "missing_scope"],
    ["SAML providers refused", { saml_idps: missing("missing_scope", "idps.read") }, "missing_scope"],
    ["apps that broke off after it", { apps: missing("provider_error", "", [aDirectory()]) }, "needs_review"],
    [
      "its password policy in a list that broke off",
      { password_policies: missing("provider_error", "", [directoryPolicy("LDAP")]) },
      "needs_review",
    ],
    [
      "a password policy of an unknown provider",
      { password_policies: withDefault(directoryPolicy("SUN")) },
      "unreadable",
    ],
    [
      "its password policy of unknown status",
      { password_policies: withDefault({ ...directoryPolicy("LDAP"), status: "RESTING" }) },
      "unreadable",
    ],
    ["{} among the password policies", { password_policies: withDefault({}) }, "unreadable"],
    ["{} among the apps", { apps: obtained([anApp(), {}]) }, "unreadable"],
    ["{} and Active Directory", { apps: obtained([{}, aDirectory()]) }, "needs_review"],
    ["Active Directory of unknown status", { apps: obtained([aDirectory({ status: "RESTING" })]) }, "unreadable"],
    ["nothing asked", { apps: undefined }, "provider_error"],
  ])("$0: $2", (_, directory, outcome) => {
    const result = evaluate(check, { user_lifecycle_policies: obtained([]), ...noDirectory, ...directory });
    expect(outcomeOf(result)).toBe(outcome);
  });

  test("is named with what shows it", () => {
    const result = evaluate(check, {
      user_lifecycle_policies: obtained([]),
      apps: obtained([aDirectory({ label: "corp.example" })]),
      password_policies: withDefault(directoryPolicy("LDAP")),
      saml_idps: obtained([aSamlIdp(true)]),
    });
    for (const name of ["corp.example", "Directory Policy", "Partner"]) expect(result.detail).toContain(name);
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
      apps: obtained([aDirectory()]),
      password_policies: withDefault(directoryPolicy("LDAP")),
    });
    expect(result.automated).toBe("PASS");
  });

  test("is asked about only where no automation complies", () => {
    const { conditionalArtifacts } = findCheck(check);
    const compliant = obtained([{ policy: anAutomation(), rules: obtained([anAction()]) }]);
    expect(conditionalArtifacts({ user_lifecycle_policies: compliant })).toEqual(["built_in_groups"]);
    expect(conditionalArtifacts({ user_lifecycle_policies: missing("missing_scope", "") })).toEqual([]);
    const needed = conditionalArtifacts({ user_lifecycle_policies: obtained([]) });
    expect(needed).toEqual(["password_policies", "saml_idps", "apps"]);
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

const noDirectory = {
  built_in_groups: obtained([anEveryoneGroup()]),
  apps: obtained([anApp()]),
  password_policies: obtained([aPasswordPolicy()]),
  saml_idps: obtained([]),
};

function withDefault(policy: JsonObject): Evidence<JsonList> {
  return obtained([aPasswordPolicy(), policy]);
}

function aDirectory(changes: JsonObject = {}): JsonObject {
  return anApp({ name: "active_directory", signOnMode: null, features: ["PROFILE_MASTERING"], ...changes });
}

function aSamlIdp(profileMaster: boolean): JsonObject {
  return {
    id: "0oaSaml",
    name: "Partner",
    type: "SAML2",
    status: "ACTIVE",
    policy: { provisioning: { profileMaster } },
  };
}

function directoryPolicy(provider: string): JsonObject {
  return set(aPasswordPolicy({ id: "00pad", name: "Directory Policy" }), "conditions.authProvider.provider", provider);
}

function judge(automations: readonly (readonly [policy: JsonObject, rules: JsonList])[]) {
  const policies = automations.map(([policy, rules]) => ({ policy, rules: obtained(rules) }));
  return evaluate(check, { user_lifecycle_policies: obtained(policies), ...noDirectory });
}
