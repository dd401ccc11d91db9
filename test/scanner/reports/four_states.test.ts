import { describe, expect, test } from "vitest";
import { catalog, ruleFields } from "../../../scanner/catalog/catalog.ts";
import type { CheckResult } from "../../../shared/report.ts";
import type { RuleState } from "../../../shared/rule_result.ts";
import { aCheckResult, aFinding, aReport, renderAs } from "../../support/report_builders.ts";

const manual = (reason: "needs_review" | "not_applicable" | "interrupted") => aFinding({ status: "MANUAL", reason });
const pass = aFinding({ status: "PASS", reason: null });
const partly = aFinding({ status: "MANUAL", reason: "partly_automated", automated: "PASS" });
const by = { reason: "Looked at it", by: "Ada", expires: null } as const;

/** Two rules fail (4 findings, 1 waived), two need review (the automated part of one passed), two pass (one attested), two do not apply (one attested). */
const changes: readonly Partial<CheckResult>[] = [
  { findings: [aFinding(), aFinding({ waived: true }), aFinding(), pass, manual("not_applicable")] },
  { findings: [aFinding()] },
  { findings: [manual("needs_review")] },
  { findings: [pass] },
  { findings: [partly] },
  { findings: [manual("needs_review")], attestation: { status: "PASS", ...by } },
  { findings: [manual("not_applicable")] },
  { findings: [manual("needs_review")], attestation: { status: "NOT_APPLICABLE", ...by } },
];
const checks = changes.map((change, index) => {
  const check = catalog[index];
  if (check === undefined) throw new Error("The catalog is too short");
  return aCheckResult({ ...ruleFields(check), ...change });
});
const report = aReport(checks);

describe("--status", () => {
  const render = (name: string, states: readonly RuleState[]) => renderAs(name, report, { states });

  test.each([
    ["table", (check: CheckResult) => ` ${check.vuln_id} `],
    ["html", (check: CheckResult) => `id="${check.vuln_id}"`],
    ["markdown", (check: CheckResult) => ` ${check.vuln_id} · `],
  ])("%s lists only such rules, and counts all", (name, entryOf) => {
    const text = render(name, ["manual", "not_applicable"]).replaceAll(/[`*]|<\/?b>/g, "");
    expect(checks.filter((check) => text.includes(entryOf(check)))).toEqual([2, 4, 6, 7].map((index) => checks[index]));
    expect(text).toContain("2 of 8 rules failed");
    expect(text).toContain("Lists 4 of 8 rules");
  });

  test("csv has only such findings", () => {
    const lines = render("csv", ["fail", "pass"]).trim().split(/\r?\n/);
    expect(lines).toHaveLength(4 + 3 + 1);
  });

  test.each(["json", "cklb", "sarif", "junit"])("%s stays whole", (name) => {
    expect(render(name, ["fail"])).toBe(renderAs(name, report));
  });
});

test.each(["table", "markdown"])("%s has one line for what an interrupted scan did not reach", (name) => {
  const interrupted = catalog.map((check) => aCheckResult({ ...ruleFields(check), findings: [manual("interrupted")] }));
  const text = renderAs(name, aReport(interrupted)).replaceAll(/\s+/g, " ").replaceAll("`", "");
  expect(text.split("the scan was interrupted")).toHaveLength(2);
  expect(text).toContain(`${catalog.length} rules not evaluated`);
  expect(text).toMatch(/\b0 rules need manual review\W+29 not evaluated/);
});

test.each([
  ["PASS", "PASS", "Pass", "0 of 2"],
  ["FAIL", "FAIL", "Fail", "2 of 2"],
  ["NOT_APPLICABLE", "N/A", "Not Applicable", "0 of 2"],
] as const)("a rule attested %s has that result for each rule or finding, and on the first screen", (...row) => {
  const [status, word, ocsf, open] = row;
  const findings = [manual("needs_review"), manual("needs_review")];
  const attested = aReport([aCheckResult({ findings, attestation: { status, ...by } })]);
  expect(renderAs("csv", attested)).toContain(`,${word},MANUAL,needs_review,`);
  expect(renderAs("markdown", attested)).toContain(
    `| CAT II | ${word === "N/A" ? "Not Applicable" : word}, attested |`,
  );
  expect(renderAs("ocsf", attested)).toContain(`"status": "${ocsf}"`);
  expect(renderAs("html", attested)).toContain(`<td>${open}</td>`);
  const first = renderAs("table", attested, { isBrief: true });
  expect(first.includes("FAIL V-273186")).toBe(status === "FAIL");
  expect(renderAs("junit", attested).includes('<failure message="Attested FAIL by')).toBe(status === "FAIL");
  expect(/inactivity\.,Attested FAIL by/.test(renderAs("poam", attested))).toBe(status === "FAIL");
});
