import { convertFileContextual } from "inspecjs";
import { describe, expect, test } from "vitest";
import { builtIn } from "../../../scanner/catalog/catalog.ts";
import { benchmarkRules } from "../../../scanner/reports/benchmark_rules.ts";
import { failOnProblem, parseFailOn } from "../../../scanner/decisions/gates/fail_on.ts";
import { applyGate, type Gate } from "../../../scanner/decisions/gates/gate.ts";
import { parseThresholds } from "../../../scanner/decisions/gates/threshold_file.ts";
import type { RuleStatus } from "../../../scanner/decisions/gates/thresholds.ts";
import type { CheckResult } from "../../../shared/report.ts";
import { aCheckResult, aFinding, aReport, everyVerdict, renderAs } from "../../support/report_builders.ts";

function aGate(failOnText = "fail", changes: Partial<Gate> = {}): Gate {
  const failOn = parseFailOn(failOnText);
  if (failOn === null) throw new Error(`${failOnText} names nothing`);
  return { failOn, failOnText, onlyNew: false, thresholds: [], ...changes };
}

function isFailed(result: CheckResult, gate: Gate): boolean {
  return applyGate(aReport([result]), gate, []).isFailed;
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
    expect(applyGate(report, aGate("fail:high"), []).line(1)).toBe(
      "Exit 1: 2 findings failed (--fail-on fail:high): V-273193. Not counted: 1 finding failed (1 CAT II), 1 finding needs manual review (1 CAT III), 1 finding waived",
    );
    expect(applyGate(aReport([passed, notApplicable]), aGate(), []).line(0)).toBe("Exit 0 (--fail-on fail)");
  });
});

describe("--threshold", () => {
  const rules: readonly RuleStatus[] = [
    { rule: { vuln_id: "V-1", severity: "high" }, disposition: "fail" },
    { rule: { vuln_id: "V-2", severity: "medium" }, disposition: "pass" },
    { rule: { vuln_id: "V-3", severity: "medium" }, disposition: "pass" },
    { rule: { vuln_id: "V-4", severity: "low" }, disposition: "not_reviewed" },
    { rule: { vuln_id: "V-5", severity: "low" }, disposition: "not_applicable" },
  ];
  const judge = (text: string) =>
    applyGate(aReport([passed]), aGate("fail", { thresholds: parseThresholds(text, "t.yaml") }), rules);

  test.each([
    ["compliance.min: 50", null],
    ["compliance.min: 51", "compliance.min is 51, found 50"],
    ["compliance: { max: 49 }", "compliance.max is 49, found 50"],
    ["failed:\n  high:\n    max: 1", null],
    ["failed:\n  high:\n    max: 0", "failed.high.max is 0, found 1"],
    ["failed.high: { max: 0 }", "failed.high.max is 0, found 1"],
    ["failed.critical.max: 0", null],
    ["failed.total.max: 0", "failed.total.max is 0, found 1"],
    ["passed: { total: 2 }", null],
    ["passed: { total: 3 }", "passed.total is 3, found 2"],
    ["passed: { medium: { min: 3 } }", "passed.medium.min is 3, found 2"],
    ["skipped.low.max: 0", "skipped.low.max is 0, found 1"],
    ["no_impact.total.max: 0", "no_impact.total.max is 0, found 1"],
    ["error.total.max: 0", null],
    ["failed.high.controls: [V-1]", null],
    ["failed.high.controls: [V-2]", "failed.high.controls is [V-2], found [V-1]"],
    ['{\n\t"failed": {\n\t\t"total": { "max": 0 }\n\t}\n}', "failed.total.max is 0, found 1"],
  ])("%j: %s", (text, problem) => {
    const result = judge(text);
    expect(result.isFailed).toBe(problem !== null);
    expect(result.line(result.isFailed ? 1 : 0)).toContain(
      problem === null ? "--threshold is met" : `--threshold: ${problem}`,
    );
  });

  test("counts what SAF counts in the heimdall report", () => {
    const report = aReport(everyVerdict());
    const [profile] = convertFileContextual(renderAs("hdf", report)).contains;
    if (profile === undefined || !("contains" in profile)) throw new Error("There is no profile");
    const names = { Passed: "passed", Failed: "failed", "Not Reviewed": "skipped", "Not Applicable": "no_impact" };
    const controls = Map.groupBy(
      profile.contains,
      ({ root }) => `${names[root.hdf.status as keyof typeof names]}.${root.hdf.severity}.controls`,
    );
    expect(controls.size).toBeGreaterThan(4);
    const asYaml = [...controls].map(([key, found]) => `${key}: [${found.map(({ root }) => root.data.id).join(", ")}]`);
    const gate = aGate("never", { thresholds: parseThresholds(asYaml.join("\n"), "t.yaml") });
    expect(applyGate(report, gate, benchmarkRules(report, builtIn)).line(0)).toContain("--threshold is met");
  });

  test("of --fail-on and --threshold each fails a run by itself, and the line says which", () => {
    const thresholds = parseThresholds("failed.total.max: 0", "t.yaml");
    const { isFailed: fails, line } = applyGate(aReport([failed]), aGate("never", { thresholds }), rules);
    expect([fails, line(1)]).toEqual([
      true,
      "Exit 1: --threshold: failed.total.max is 0, found 1 (--fail-on never). Not counted: 1 finding failed (1 CAT II)",
    ]);
  });

  test.each([
    ["failed.hihg.max: 0", 'there is no key "failed.hihg.max": did you mean failed.high.max?'],
    ["complaince: { min: 1 }", 'there is no key "complaince.min": did you mean compliance.min?'],
    ["passed: { none: { max: 0 } }", 'there is no key "passed.none.max"'],
    ["__proto__: { min: 1 }", 'there is no key "__proto__.min"'],
    ["failed.total.max: -1", "failed.total.max: expected a number from 0 to 1000000"],
    ["failed.total.max: none", "failed.total.max: expected a number"],
    ["compliance.min: 101", "compliance.min: expected a number from 0 to 100"],
    ["failed.high.controls: V-1", "failed.high.controls: expected a list of ids"],
    ["failed.total: { min: 2, max: 1 }", "failed.total.min 2 is above its max 1"],
    ["failed.total.max: 1\nfailed.total.max: 2", "it is neither YAML nor JSON"],
    ["a: &a [1]\nb: *a", "it is neither YAML nor JSON"],
    ["{", "it is neither YAML nor JSON"],
    ["", "expected keys such as compliance.min"],
    ["- 1", "expected keys such as compliance.min"],
    ["{}", "it sets no threshold"],
  ])("%j is refused: %s", (text, message) => {
    expect(() => parseThresholds(text, "t.yaml")).toThrow(`Cannot use --threshold "t.yaml": ${message}`);
  });
});
