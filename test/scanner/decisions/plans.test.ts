import { describe, expect, test } from "vitest";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import { applyDecisions } from "../../../scanner/decisions/apply_decisions.ts";
import { applyGate, parseFailOn } from "../../../scanner/decisions/fail_on.ts";
import { parseDecisions } from "../../../scanner/decisions/decision_file.ts";
import type { CheckResult } from "../../../shared/report.ts";
import { aCheckResult, aFinding, aReport } from "../../support/report_builders.ts";

const check = "signon_global_session_idle_timeout_15min";
const source = { option: "--decisions", file: "decisions.json", rules: stigRuleNames };
const now = Date.parse("2026-11-21T12:00:00Z");
const plan = { check, reason: "Change 7", remediation_date: "2026-11-21" };

function decide(entries: readonly object[], result: CheckResult = aCheckResult(), nowMs = now) {
  const { waivers } = parseDecisions(JSON.stringify(entries), source);
  return applyDecisions([result], { waivers, attestations: [], baseline: null }, nowMs);
}

function firstFinding(entries: readonly object[], result?: CheckResult, nowMs?: number) {
  return decide(entries, result, nowMs).results[0]?.findings[0];
}

describe("a decision with a remediation date", () => {
  test("is a plan, and no waiver: the finding still fails", () => {
    const { results, warnings } = decide([plan]);
    expect(results[0]?.findings[0]).toMatchObject({ waived: false, plan: { reason: "Change 7" } });
    const gate = { failOn: parseFailOn("fail") ?? [], failOnText: "fail", onlyNew: false, allowUnread: false };
    expect(applyGate(aReport(results), gate).isFailed).toBe(true);
    expect(warnings).toEqual([]);
  });

  test("and an end is a waiver until then, and a plan all the time", () => {
    const both = { ...plan, remediation_date: "2026-11-01", expires: "2026-11-21", by: "A. Person" };
    expect(firstFinding([both])).toMatchObject({ waived: true, plan: { overdue: false } });
    const later = Date.parse("2026-11-22T00:00:00Z");
    expect(firstFinding([both], aCheckResult(), later)).toMatchObject({ waived: false, plan: { overdue: true } });
  });

  test("is no plan for what is for a person to judge, unless the person found a failure", () => {
    const manual = aCheckResult({ findings: [aFinding({ status: "MANUAL" })] });
    expect(firstFinding([plan], manual)?.plan).toBeUndefined();
    const { waivers } = parseDecisions(JSON.stringify([plan]), source);
    const attestations = [{ check, status: "FAIL", reason: "seen", by: "A. Person", expires: null }] as const;
    const { results } = applyDecisions([manual], { waivers, attestations, baseline: null }, now);
    expect(results[0]?.findings[0]?.plan).toMatchObject({ remediation_date: "2026-11-21" });
  });

  test.each([
    [{ remediation_date: "soon" }, /decisions\.json.*decisions\[0\]\.remediation_date: expected a day/],
    [{ remediation_date: "2026-02-30" }, /remediation_date: expected a day/],
    [{ remediation_date: null }, /remediation_date/],
    [{ milestones: "Draft" }, /milestones: expected a list/],
    [{ milestones: [" "] }, /milestones\.0/],
    [{ milestones: [{ description: "x", done: true }] }, /milestones\.0/],
    [{ milestones: [{ description: "x", date: "x" }] }, /milestones\.0/],
    [
      { milestones: [{ description: "x", date: "2026-11-22" }] },
      /milestones\[0\]\.date: expected no day after remediation_date, 2026-11-21/,
    ],
    [{ milestones: Array.from({ length: 101 }, () => "x") }, /expected 100 at most/],
    [
      { remediation_date: undefined, by: "A. Person", expires: "never", milestones: ["x"] },
      /milestones: expected a remediation_date/,
    ],
  ])("refuses %j: %s", (changes, message) => {
    expect(() => parseDecisions(JSON.stringify([{ ...plan, ...changes }]), source)).toThrow(message);
  });
});
