import type { OrgPolicy } from "../../../scanner/org_policy/document.ts";
import { describe, expect, test } from "vitest";
import { findCheck } from "../../../scanner/catalog/select_checks.ts";
import { missing, obtained, type CollectedArtifacts, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
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
const noDirectory = {
  built_in_groups: obtained([anEveryoneGroup()]),
  apps: obtained([anApp()]),
  password_policies: obtained([aPasswordPolicy()]),
  saml_idps: obtained([]),
};

type Automation = readonly [policy: JsonObject, rules: JsonList];

function judge(automations: readonly Automation[], evidence: CollectedArtifacts = {}) {
  const policies = automations.map(([policy, rules]) => ({ policy, rules: obtained(rules) }));
  return evaluate(check, { user_lifecycle_policies: obtained(policies), ...noDirectory, ...evidence });
}

describe("an automation", () => {
  test.each<[path: string, value: unknown, outcome: string]>([
    [`${inactivity}.number`, 35, "PASS"],
    [`${inactivity}.number`, 36, "FAIL"],
    [`${inactivity}.number`, "35", "unreadable"],
    [inactivity, { number: 5, unit: "WEEKS" }, "PASS"],
    [inactivity, { number: 6, unit: "WEEKS" }, "FAIL"],
    [inactivity, { number: 840, unit: "HOURS" }, "PASS"],
    [inactivity, { number: 841, unit: "HOURS" }, "FAIL"],
    ["conditions.people.groups.include", [], "FAIL"],
    ["status", "INACTIVE", "FAIL"],
  ])("with %s = %j is %s", (path, value, outcome) => {
    expect(outcomeOf(judge([[set(anAutomation(), path, value), [anAction()]]]))).toBe(outcome);
  });

  test.each([
    ["SUSPENDED", "PASS"],
    ["DEACTIVATED", "PASS"],
    ["DEPROVISIONED", "PASS"],
    ["ACTIVE", "FAIL"],
    ["FROZEN", "unreadable"],
  ])("whose action makes users %s is %s", (target, outcome) => {
    const action = set(anAction(), "actions.updateUserLifecycle.targetStatus", target);
    expect(outcomeOf(judge([[anAutomation(), [action]]]))).toBe(outcome);
  });

  test.each([
    ["the group Everyone", { include: ["00gEveryone"] }, null],
    ["another group", { include: ["00g2"] }, "partly_automated"],
    ["a part of Everyone", { include: ["00gEveryone"], exclude: ["00g2"] }, "partly_automated"],
  ])("for %s complies, with the reason %s", (_, groups, reason) => {
    const result = judge([[set(anAutomation(), "conditions.people.groups", groups), [anAction()]]]);
    expect([outcomeOf(result), result.reason]).toEqual(["PASS", reason]);
  });

  test("an automation for another group FAILs and names the group", () => {
    const policy = set(anAutomation(), "conditions.people.groups.include", ["00g2"]);
    const evidence = { automation_groups: obtained([{ id: "00g2", profile: { name: "Contractors" } }]) };
    expect(judge([[policy, [anAction()]]], evidence).detail).toContain(
      'days, the group "Contractors", an active action, the target status SUSPENDED',
    );
    const unread = { built_in_groups: missing<JsonList>("missing_scope", "groups.read is not granted") };
    expect(judge([[policy, [anAction()]]], unread).detail).toContain("groups.read is not granted; Verify that");
  });

  test("one automation that complies is enough", () => {
    const late = set(anAutomation({ id: "rstLate", name: "Late" }), `${inactivity}.number`, 90);
    const { findings } = judge([
      [late, [anAction()]],
      [anAutomation(), [anAction({ status: "INACTIVE", id: "a" }), anAction()]],
    ]);
    expect(findings).toMatchObject([{ status: "PASS", resource: { name: "User Inactivity / Suspend" } }]);
  });

  test("the closest automation FAILs with everything that it lacks", () => {
    const late = set(anAutomation({ id: "rstLate", name: "Late" }), `${inactivity}.number`, 90);
    const { findings } = judge([
      [{ ...late, id: "rstIdle", status: "INACTIVE", conditions: {} }, []],
      [set(late, "conditions.people.groups", undefined), [anAction()]],
    ]);
    expect(findings).toMatchObject([{ status: "FAIL", resource: { id: "rstLate" } }]);
    expect(findings[0]?.actual).toMatch(/inactivity of 90 days.*no groups/);
  });
});

describe("a directory that sources users", () => {
  const aDirectory = (changes: JsonObject = {}) =>
    anApp({ name: "active_directory", label: "corp.example", features: ["PROFILE_MASTERING"], ...changes });
  const ldap = set(
    aPasswordPolicy({ id: "00pad", name: "Directory Policy" }),
    "conditions.authProvider.provider",
    "LDAP",
  );
  const saml = (profileMaster: boolean) => ({
    id: "0oaSaml",
    name: "Partner",
    type: "SAML2",
    status: "ACTIVE",
    policy: { provisioning: { profileMaster } },
  });

  test.each<[what: string, evidence: CollectedArtifacts, outcome: string]>([
    ["Active Directory", { apps: obtained([aDirectory()]) }, "needs_review"],
    ["an inactive Active Directory", { apps: obtained([aDirectory({ status: "INACTIVE" })]) }, "FAIL"],
    ["an app that imports users", { apps: obtained([anApp({ features: ["IMPORT_NEW_USERS"] })]) }, "needs_review"],
    ["Okta Workflows", { apps: obtained([anApp({ name: "okta_flow_sso", features: ["IMPORT_NEW_USERS"] })]) }, "FAIL"],
    ["an app that receives users", { apps: obtained([anApp({ features: ["PUSH_NEW_USERS"] })]) }, "FAIL"],
    ["a SAML provider that masters profiles", { saml_idps: obtained([saml(true)]) }, "needs_review"],
    ["a SAML provider that masters none", { saml_idps: obtained([saml(false)]) }, "FAIL"],
    ["LDAP's password policy", { password_policies: obtained([aPasswordPolicy(), ldap]) }, "needs_review"],
    ["apps refused", { apps: missing("missing_scope", "apps.read") }, "missing_scope"],
  ])("$0: $2", (_, evidence, outcome) => {
    expect(outcomeOf(judge([], evidence))).toBe(outcome);
  });

  test.each([
    ["in use", obtained([aDirectory()]), "needs_review"],
    ["none", obtained([anApp()]), "unreadable"],
  ])("%s, and an automation that cannot be read", (_, apps, outcome) => {
    const result = judge([[set(anAutomation(), `${inactivity}.unit`, "MONTHS"), [anAction()]]], { apps });
    expect(outcomeOf(result)).toBe(outcome);
    expect(result.detail).toContain('the inactivity unit "MONTHS"');
  });

  test("is named with what shows it", () => {
    const { detail } = judge([], {
      apps: obtained([aDirectory()]),
      password_policies: obtained([aPasswordPolicy(), ldap]),
      saml_idps: obtained([saml(true)]),
    });
    for (const name of ["corp.example", "Directory Policy", "Partner"]) expect(detail).toContain(name);
  });

  test("a directory that shows only as an app is invisible to a Read-Only Administrator, as a note of the FAIL says", () => {
    const hint = /cannot see a directory that exists only as an app/;
    expect(judge([]).detail).toMatch(hint);
    expect(judge([], { apps: obtained([anApp({ name: "saasure" })]) }).detail).not.toMatch(hint);
  });

  test("is asked about only where no automation complies, or the document says that it masters all accounts", () => {
    const { conditionalArtifacts } = findCheck(check);
    const further = (user_lifecycle_policies: CollectedArtifacts["user_lifecycle_policies"], more = {}) =>
      conditionalArtifacts({ ...(user_lifecycle_policies && { user_lifecycle_policies }), ...more });
    const automation = (policy: JsonObject) => obtained([{ policy, rules: obtained([anAction()]) }]);
    expect(further(automation(anAutomation()))).toEqual(["built_in_groups"]);
    const ofOthers = automation(set(anAutomation(), "conditions.people.groups.include", ["00g2"]));
    expect(further(ofOthers, { built_in_groups: obtained([anEveryoneGroup()]) })).toEqual(["automation_groups"]);
    expect(further(missing("missing_scope", ""))).toEqual([]);
    const orgPolicy = { user_sourcing: "directory" } as OrgPolicy;
    const asked = ["password_policies", "saml_idps", "apps", "built_in_groups"];
    expect(conditionalArtifacts({ user_lifecycle_policies: automation(anAutomation()) }, { orgPolicy })).toEqual(asked);
    expect(further(obtained([]))).toEqual(["password_policies", "saml_idps", "apps"]);
  });
});
