import { describe, expect, test } from "vitest";
import { applyGate, failOnProblem, parseFailOn, type FailRule } from "../../../scanner/decisions/fail_on.ts";
import type { CheckResult, ManualReason, Role } from "../../../shared/report.ts";
import { aCheckResult, aFinding, aReport } from "../../support/report_builders.ts";

function aGate(failOnText = "fail", changes: Partial<FailRule> = {}): FailRule {
  const failOn = parseFailOn(failOnText);
  if (failOn === null) throw new Error(`${failOnText} names nothing`);
  return { failOn, failOnText, onlyNew: false, allowUnread: false, ...changes };
}

function isFailed(result: CheckResult, gate: FailRule): boolean {
  return applyGate(aReport([result]), gate).isFailed;
}

const failed = aCheckResult();
const manual = aCheckResult({ findings: [aFinding({ status: "MANUAL" })] });
const notApplicable = aCheckResult({ findings: [aFinding({ status: "MANUAL", reason: "not_applicable" })] });
const passed = aCheckResult({ findings: [aFinding({ status: "PASS", reason: null })] });
const waived = aCheckResult({ findings: [aFinding({ waived: true, waiver: { reason: "x", expires: null } })] });
const attestedPass = { ...manual, attestation: { status: "PASS", reason: "x", by: "y", expires: null } } as const;
const attestedFail = { ...manual, attestation: { status: "FAIL", reason: "x", by: "y", expires: null } } as const;

describe("--fail-on", () => {
  test.each([
    ["a FAIL", failed, "fail", true],
    ["a FAIL", failed, "never", false],
    ["a FAIL", failed, "manual", true],
    ["a waived FAIL", waived, "fail", false],
    ["a MANUAL", manual, "fail", false],
    ["a MANUAL", manual, "manual", true],
    [
      "an advisory MANUAL",
      aCheckResult({ findings: [aFinding({ status: "MANUAL", advisory: true })] }),
      "manual",
      false,
    ],
    ["what does not apply", notApplicable, "manual", false],
    ["an attested MANUAL", attestedPass, "manual", false],
    ["a MANUAL attested as FAIL", attestedFail, "fail", true],
    ["a MANUAL attested as FAIL", attestedFail, "fail:high", false],
    ["a MANUAL attested as FAIL", attestedFail, "never", false],
    ["a waived FAIL that is attested as FAIL", { ...waived, attestation: attestedFail.attestation }, "fail", false],
    ["a FAIL that is attested as FAIL", { ...failed, attestation: attestedFail.attestation }, "fail", true],
    ["a PASS that is attested as FAIL", { ...passed, attestation: attestedFail.attestation }, "fail", true],
    ["a PASS", passed, "manual", false],
    ["a FAIL of medium", failed, "fail:high", false],
    ["a FAIL of medium", failed, "fail:medium", true],
    ["a FAIL of medium", failed, "fail:low", true],
    ["a FAIL of high", { ...failed, severity: "high" }, "fail:medium", true],
    ["a FAIL of low", { ...failed, severity: "low" }, "fail:medium", false],
    ["a FAIL of low", { ...failed, severity: "low" }, "fail", true],
    ["a MANUAL of high", { ...manual, severity: "high" }, "fail,manual:high", true],
    ["a MANUAL of medium", manual, "fail,manual:high", false],
    ["a FAIL of medium", failed, "fail:high,manual:high", false],
    ["a FAIL of high", { ...failed, severity: "high" }, "manual:high", true],
    ["a FAIL of medium", failed, "fail:cat1", false],
    ["a FAIL of medium", failed, "fail:CAT II", true],
    ["a FAIL of medium", failed, "fail:III", true],
  ] as const)("%s with %s counts: %s", (_, result, failOn, expected) => {
    expect(isFailed(result, aGate(failOn))).toBe(expected);
  });

  test.each([
    ["unchanged", false],
    ["new", true],
  ] as const)("with --fail-on-new a FAIL that is %s counts: %s", (change, expected) => {
    const result = aCheckResult({ findings: [aFinding({ change })] });
    expect(isFailed(result, aGate("fail", { onlyNew: true }))).toBe(expected);
    const attested = { ...result, attestation: attestedFail.attestation };
    expect(isFailed(attested, aGate("fail", { onlyNew: true }))).toBe(expected);
  });

  test.each(["", "always", "fail:", "fail:critical", "never,fail", "fail,", "never:high", "fail:high:high", "FAIL"])(
    "%j is refused",
    (text) => {
      expect(parseFailOn(text)).toBeNull();
    },
  );

  test.each(["cat1", "CAT I", "high", "fail,I"])("%j is refused, because a severity needs a status", (text) => {
    expect(parseFailOn(text)).toBeNull();
    expect(failOnProblem(text)).toContain(`a severity needs a status: expected fail:${text.split(",").at(-1)}`);
  });

  test("one line says what failed the run, and what is open and did not", () => {
    const high = aCheckResult({ vuln_id: "V-273193", severity: "high", findings: [aFinding(), aFinding()] });
    const report = aReport([
      high,
      failed,
      { ...manual, severity: "low", category: "III" },
      waived,
      passed,
      notApplicable,
    ]);
    expect(applyGate(report, aGate("fail:high")).line(1)).toBe(
      "Exit 1: 2 findings failed (--fail-on fail:high): V-273193. Not counted: 1 finding failed (1 CAT II), 1 finding needs manual review (1 CAT III), 1 finding waived",
    );
    expect(applyGate(aReport([passed, notApplicable]), aGate()).line(0)).toBe("Exit 0 (--fail-on fail)");
  });
});

describe("rules without a result", () => {
  const unread = (reason: ManualReason, changes: Partial<CheckResult> = {}) =>
    aCheckResult({ ...changes, findings: [aFinding({ status: "MANUAL", reason })] });
  const ofSuperAdmin = { vuln_id: "V-273193", check: "application_admin_console_mfa_required" };

  test.each<[what: string, check: CheckResult, role: Role, unread: number]>([
    ["a missing scope", unread("missing_scope"), "super_admin", 1],
    ["an outage", unread("provider_error"), "read_only_admin", 1],
    ["an answer of another shape", unread("unreadable"), "read_only_admin", 1],
    ["an interruption", unread("interrupted"), "read_only_admin", 1],
    ["a role that sees less", unread("missing_role"), "read_only_admin", 1],
    ["a rule for a Super Administrator, under a lesser role", unread("missing_role", ofSuperAdmin), "unknown", 0],
    ["the same under that role", unread("missing_role", ofSuperAdmin), "super_admin", 1],
    ["the same without its scope", unread("missing_scope", ofSuperAdmin), "read_only_admin", 1],
    ["a feature that the organization lacks", unread("not_available"), "super_admin", 0],
    ["a question for a person", unread("needs_review"), "super_admin", 0],
    ["an attested rule", { ...unread("missing_scope"), attestation: attestedPass.attestation }, "super_admin", 0],
  ])("%s counts under %s: %s", (_, check, role, count) => {
    const report = aReport([passed, check]);
    const gate = applyGate({ ...report, scan: { ...report.scan, role } }, aGate());
    expect([gate.isFailed, gate.unread]).toEqual([false, count]);
  });

  test("are named with the exit code, or as not counted where they are allowed", () => {
    const report = aReport([passed, unread("missing_scope")]);
    expect(applyGate(report, aGate()).line(3)).toBe(
      "Exit 3: 1 rule has no result (missing_scope: 1) (--fail-on fail). Not counted: 1 finding needs manual review (1 CAT II)",
    );
    expect(applyGate(report, aGate("fail", { allowUnread: true })).line(0)).toMatch(
      /^Exit 0 \(--fail-on fail, --allow-unread\)\. Not counted: .*, 1 rule has no result \(missing_scope: 1\)$/,
    );
  });
});
