import { describe, expect, test } from "vitest";
import { AppError } from "../../shared/app_error.ts";
import { builtIn, catalog } from "../../scanner/catalog/catalog.ts";
import explanations from "../../scanner/catalog/explanations.json" with { type: "json" };
import { stigRuleNames } from "../../shared/rule_names.ts";
import { findCheck, selectChecks } from "../../scanner/catalog/select_checks.ts";
import { allChecks } from "../../scanner/checks/all_checks.ts";

describe("the catalog", () => {
  test("has each rule of the STIG once, each with its own check", () => {
    expect(new Set(catalog.map((check) => check.name)).size).toBe(catalog.length);
    expect(new Set(catalog.map((check) => check.rule.vuln_id)).size).toBe(catalog.length);
    expect(new Set(allChecks.map((check) => check.name))).toEqual(new Set(catalog.map((check) => check.name)));
    expect(Object.keys(explanations)).toEqual(catalog.map((check) => check.name));
    expect(builtIn.benchmark).toMatchObject({
      benchmark_id: "Okta_IDaaS_STIG",
      version: "1",
      release_info: expect.stringMatching(/^Release: 2 /),
    });
  });

  test.each(catalog)("$name quotes DISA's own words", ({ rule, explanation }) => {
    expect(rule.check_text.replaceAll(/\s+/g, " ")).toContain(explanation.disa);
  });
});

describe("findCheck", () => {
  test.each([
    ["signon_global_session_idle_timeout_15min"],
    [" V-273186 "],
    ["OKTA-APP-000020"],
    ["sv-273186R1098825_RULE"],
    ["SV-273186r1098825"],
    ["SV-273186"],
  ])("finds %j", (name) => {
    expect(findCheck(name).rule.vuln_id).toBe("V-273186");
  });

  test.each([
    ["signon_global_session_idle_timeout", 'did you mean "signon_global_session_idle_timeout_15min"?'],
    ["sigon_global_session_lifetime_18h", 'did you mean "signon_global_session_lifetime_18h"?'],
    ["V-27318", 'did you mean "V-27318'],
    ["SV-27318r1", "did you mean"],
    ["xyz", "run `scanstream explain` for the list"],
    ["", "run `scanstream explain` for the list"],
  ])("refuses %j and helps: %s", (name, advice) => {
    expect(() => findCheck(name)).toThrow(AppError);
    expect(() => findCheck(name)).toThrow(`Unknown rule "${name}": `);
    expect(() => findCheck(name)).toThrow(advice);
  });
});

test("another revision of a rule is taken, and said", () => {
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  expect(findCheck("SV-273186r1_rule", { warn }).name).toBe("signon_global_session_idle_timeout_15min");
  expect(warnings).toEqual(["SV-273186r1_rule is another revision of V-273186: using SV-273186r1098825_rule"]);
});

test("the names that the gateway knows are those of the catalog", () => {
  expect(stigRuleNames).toEqual(
    catalog.map(({ rule: { check, vuln_id, stig_id, rule_id } }) => ({ check, vuln_id, stig_id, rule_id })),
  );
});

describe("selectChecks", () => {
  const names = (selection: Parameters<typeof selectChecks>[0]) => selectChecks(selection).map((check) => check.name);

  test("is everything by default, in the catalog's order", () => {
    expect(selectChecks()).toEqual(catalog);
    expect(names({ check: [], exclude: [], severity: [] })).toHaveLength(catalog.length);
  });

  const [idle, log] = ["signon_global_session_idle_timeout_15min", "systemlog_streaming_enabled"];

  test("keeps the catalog's order, and each check once", () => {
    expect(names({ check: [log, idle, log] })).toEqual([idle, log]);
  });

  test("excludes, by severity, and all together", () => {
    expect(names({ exclude: [idle] })).toHaveLength(catalog.length - 1);
    expect(names({ severity: ["high"] })).toHaveLength(3);
    expect(names({ severity: ["high", "medium"] })).toHaveLength(catalog.length);
    expect(names({ check: [idle, log], severity: ["high"] })).toEqual([log]);
  });

  test.each<[Parameters<typeof selectChecks>[0], string]>([
    [{ severity: ["low"] }, "The selection leaves no check: --severity low"],
    [{ check: [idle], exclude: [idle] }, `The selection leaves no check: --check ${idle} with --exclude ${idle}`],
  ])("refuses %j", (selection, message) => {
    expect(() => selectChecks(selection)).toThrow(message);
  });
});
