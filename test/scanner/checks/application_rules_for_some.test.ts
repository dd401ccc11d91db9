import { describe, expect, test } from "vitest";
import { obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import {
  aCatchAll,
  aLaxRule,
  adminConsoleApp,
  anAccessRule,
  dashboardApp,
  evaluate,
  lastRule,
} from "../../support/artifact_builders.ts";

describe.each([
  "application_admin_console_mfa_required",
  "application_dashboard_mfa_required",
  "application_admin_console_phishing_resistant_authentication",
  "application_dashboard_phishing_resistant_authentication",
])("%s of rules for some people", (check) => {
  const forPeople = (people: unknown) => anAccessRule({ conditions: { people } });

  test.each<[people: unknown, isForAllUsers: boolean]>([
    [undefined, true],
    [null, true],
    [{ users: { include: [], exclude: [] }, groups: null }, true],
    [{ users: { include: ["00u1"] } }, false],
    [{ users: { exclude: ["00u1"] } }, false],
    [{ groups: { include: ["00g1"] } }, false],
    [{ groups: { exclude: ["00g1"] } }, false],
    [{ groups: { include: "00g1" } }, false],
    ["everybody", false],
  ])("a first rule with the people condition %j applies to all users: %s", (people, isForAllUsers) => {
    const result = judgeRules(check, [forPeople(people), lastRule()]);
    expect(result).toMatchObject({ status: "PASS", coverage: isForAllUsers ? "full" : "partial" });
    if (!isForAllUsers) {
      expect(result.findings[0]?.coverage_reason).toMatch(
        /^Rule "Known networks" is for named users or groups only; for the others the next rule "Catch-all Rule" decides, which is FAIL: .+/,
      );
    }
  });

  test.each<[what: string, later: JsonList, verdict: RegExp]>([
    [
      "another strict rule",
      [anAccessRule({ id: "b", name: "Others", priority: 1 }), lastRule()],
      /"Others".* is PASS:/,
    ],
    ["a catch-all that denies", [aCatchAll()], /"Catch-all Rule".* is MANUAL \(needs_review\): access DENY/],
    ["an inactive rule", [aLaxRule({ status: "INACTIVE" })], /no rule of its policy is for the others$/],
  ])("a first rule for some, then %s", (_, later, verdict) => {
    const result = judgeRules(check, [...later, forPeople({ groups: { include: ["00g1"] } })]);
    expect(result).toMatchObject({ status: "PASS", coverage: "partial" });
    expect(result.findings[0]?.coverage_reason).toMatch(verdict);
  });

  test("a lax first rule for some is FAIL, with nothing that remains", () => {
    const lax = aLaxRule({ priority: -1, conditions: { people: { users: { include: ["00u1"] } } } });
    const result = judgeRules(check, [lax, anAccessRule()]);
    expect(result).toMatchObject({ status: "FAIL", coverage: "full" });
  });

  function judgeRules(name: string, rules: JsonList) {
    const app = obtained({ app: name.includes("dashboard") ? dashboardApp : adminConsoleApp, rules: obtained(rules) });
    return evaluate(name, { admin_console_app: app, dashboard_app: app });
  }
});
