import { describe, expect, test } from "vitest";
import { parseFailOn } from "../../../scanner/decisions/fail_on.ts";
import { applyGate, type FailRule } from "../../../scanner/decisions/gates.ts";
import type { CheckResult, ManualReason, Role } from "../../../shared/report.ts";
import { aCheckResult, aFinding, aReport } from "../../support/report_builders.ts";

function aGate(failOn = "fail", changes: Partial<FailRule> = {}): FailRule {
  return { failOn: parseFailOn(failOn), onlyNew: false, allowUnread: false, ...changes };
}

const isFailed = (result: CheckResult, gate: FailRule) => applyGate(aReport([result]), gate).isFailed;
const of = (...changes: Parameters<typeof aFinding>) => aCheckResult({ findings: [aFinding(...changes)] });

const failed = aCheckResult();
const manual = of({ status: "MANUAL" });
const notApplicable = of({ status: "MANUAL", reason: "not_applicable" });
const passed = of({ status: "PASS" });
const waived = of({ waived: true, waiver: { reason: "x", expires: null } });
const attestedAs = (status: "PASS" | "FAIL", result: CheckResult): CheckResult => ({
  ...result,
  attestation: { status, reason: "x", by: "y", expires: null },
});
const ofSeverity = (severity: "high" | "low", result: CheckResult): CheckResult => ({ ...result, severity });

describe("--fail-on", () => {
  test.each<[what: string, result: CheckResult, failOn: string, counts: boolean]>([
    ["a FAIL", failed, "fail", true],
    ["a FAIL", failed, "never", false],
    ["a FAIL", failed, "manual", true],
    ["a waived FAIL", waived, "fail", false],
    ["a MANUAL", manual, "fail", false],
    ["a MANUAL", manual, "manual", true],
    ["an advisory MANUAL", of({ status: "MANUAL", advisory: true }), "manual", false],
    ["what does not apply", notApplicable, "manual", false],
    ["an attested MANUAL", attestedAs("PASS", manual), "manual", false],
    ["a MANUAL attested as FAIL", attestedAs("FAIL", manual), "fail", true],
    ["a MANUAL attested as FAIL", attestedAs("FAIL", manual), "fail:high", false],
    ["a waived FAIL that is attested as FAIL", attestedAs("FAIL", waived), "fail", false],
    [
      "a waived MANUAL that is attested as FAIL",
      attestedAs("FAIL", of({ status: "MANUAL", waived: true })),
      "fail",
      false,
    ],
    ["a PASS that is attested as FAIL", attestedAs("FAIL", passed), "fail", true],
    ["a PASS", passed, "manual", false],
    ["a FAIL of medium", failed, "fail:high", false],
    ["a FAIL of medium", failed, "fail:medium", true],
    ["a FAIL of low", ofSeverity("low", failed), "fail:medium", false],
    ["a MANUAL of high", ofSeverity("high", manual), "fail,manual:high", true],
    ["a MANUAL of medium", manual, "fail,manual:high", false],
    ["a FAIL of high", ofSeverity("high", failed), "manual:high", true],
    ["a FAIL of medium", failed, "fail:CAT II", true],
  ])("%s with %s counts: %s", (_, result, failOn, expected) => {
    expect(isFailed(result, aGate(failOn))).toBe(expected);
  });

  test.each(["unchanged", "new"] as const)("with --fail-on-new only what is new counts: %s", (change) => {
    const gate = aGate("fail", { onlyNew: true });
    const result = of({ change });
    expect([isFailed(result, gate), isFailed(attestedAs("FAIL", result), gate)]).toEqual(
      Array(2).fill(change === "new"),
    );
  });

  test.each(["", "always", "fail:", "fail:critical", "never,fail", "fail,", "never:high", "fail:high:high", "FAIL"])(
    "%j is refused",
    (text) => {
      expect(() => parseFailOn(text)).toThrow("expected fail, manual or never");
    },
  );

  test.each(["cat1", "CAT I", "high", "fail,I"])("%j is refused, because a severity needs a status", (text) => {
    const expected = `a severity needs a status: expected fail:${text.split(",").at(-1)}`;
    expect(() => parseFailOn(text)).toThrow(expected);
  });

  test("one line says what failed the run, and what is open and did not", () => {
    const high = aCheckResult({ vuln_id: "V-273193", severity: "high", findings: [aFinding(), aFinding()] });
    const low: CheckResult = { ...ofSeverity("low", manual), category: "III" };
    const report = aReport([high, failed, low, waived, passed, notApplicable]);
    expect(applyGate(report, aGate("fail:high")).line(1)).toBe(
      "Exit 1: 2 findings failed (--fail-on fail:high): V-273193. Not counted: 1 finding failed (1 CAT II), 1 finding needs manual review (1 CAT III), 1 finding waived",
    );
    expect(applyGate(aReport([passed, notApplicable]), aGate()).line(0)).toBe("Exit 0 (--fail-on fail)");
  });
});

describe("rules without a result", () => {
  const unread = (reason: ManualReason, changes: Partial<CheckResult> = {}) => ({
    ...of({ status: "MANUAL", reason }),
    ...changes,
  });
  const ofSuperAdmin = { vuln_id: "V-273193", check: "application_admin_console_mfa_required" };

  test.each<[what: string, check: CheckResult, role: Role, unread: number]>([
    ["a missing scope", unread("missing_scope"), "super_admin", 1],
    ["an outage", unread("provider_error"), "read_only_admin", 1],
    ["an interruption", unread("interrupted"), "read_only_admin", 1],
    ["a role that sees less", unread("missing_role"), "read_only_admin", 1],
    ["a rule for a Super Administrator, under a lesser role", unread("missing_role", ofSuperAdmin), "unknown", 0],
    ["the same under that role", unread("missing_role", ofSuperAdmin), "super_admin", 1],
    ["the same without its scope", unread("missing_scope", ofSuperAdmin), "read_only_admin", 1],
    ["a feature that the organization lacks", unread("not_available"), "super_admin", 0],
    ["a question for a person", unread("needs_review"), "super_admin", 0],
    ["an attested rule", attestedAs("PASS", unread("missing_scope")), "super_admin", 0],
  ])("%s counts under %s: %s", (_, check, role, count) => {
    const report = aReport([passed, check]);
    const gate = applyGate({ ...report, scan: { ...report.scan, role } }, aGate());
    expect([gate.isFailed, gate.unread]).toEqual([false, count]);
  });

  test("rules without a result are named with the exit code, or as not counted where they are allowed", () => {
    const report = aReport([passed, unread("missing_scope")]);
    expect(applyGate(report, aGate()).line(3)).toBe(
      "Exit 3: 1 rule has no result (missing_scope: 1): V-273186 (--fail-on fail). Not counted: 1 finding needs manual review (1 CAT II)",
    );
    expect(applyGate(report, aGate("fail", { allowUnread: true })).line(0)).toMatch(
      /^Exit 0 \(--fail-on fail, --allow-unread\)\. Not counted: .*, 1 rule has no result \(missing_scope: 1\): V-273186$/,
    );
  });
});
