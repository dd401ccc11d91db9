import { describe, expect, test } from "vitest";
import { builtIn } from "../../../scanner/catalog/catalog.ts";
import { controlResults } from "../../../scanner/reports/controls.ts";
import type { Report } from "../../../shared/report.ts";
import { reportOf } from "../../support/checklist_reports.ts";
import { aReport } from "../../support/report_builders.ts";

function statusOf(report: Report, id: string) {
  return controlResults(report, builtIn).find((control) => control.id === id)?.status;
}

function part(report: Report, ...vulnIds: readonly string[]): Report {
  return aReport(report.checks.filter(({ vuln_id: vulnId }) => vulnIds.includes(vulnId)));
}

describe("a control, of which V-273186 and V-273187 are the rules,", () => {
  const both = ["V-273186", "V-273187"] as const;
  test.each([
    ["fails when one of them fails", part(reportOf({ "V-273187": "FAIL" }), ...both), "FAIL"],
    [
      "fails when one fails and the other is for a person",
      part(reportOf({ "V-273187": "FAIL", "V-273186": "MANUAL" }), ...both),
      "FAIL",
    ],
    ["is for a person when one is", part(reportOf({ "V-273187": "MANUAL" }), ...both), "MANUAL"],
    ["is for a person when one was not examined", part(reportOf({}), "V-273186"), "MANUAL"],
    ["is met when both are", part(reportOf({}), ...both), "PASS"],
    ["is none of a scan that examined neither", part(reportOf({}), "V-273195"), undefined],
  ] as const)("%s", (_, report, expected) => {
    expect(statusOf(report, "ac-11")).toBe(expected);
  });
});

test("a control whose rule the API shows in part is met only with an attestation", () => {
  const report = reportOf({ "V-273188": "MANUAL" });
  expect(statusOf(report, "ac-2.3")).toBe("MANUAL");
  const attestation = { status: "PASS", reason: "looked", by: "A. Person", expires: null } as const;
  const attested = report.checks.map((check) => (check.vuln_id === "V-273188" ? { ...check, attestation } : check));
  expect(statusOf(aReport(attested), "ac-2.3")).toBe("PASS");
});
