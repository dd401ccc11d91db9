import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import type { CheckResult, Plan } from "../../../shared/report.ts";
import { aCheckResult, aFinding, aReport, renderAs } from "../../support/report_builders.ts";

const overdue: Plan = {
  remediation_date: "2026-10-31",
  milestones: [
    { description: "Draft; reviewed", date: null },
    { description: "=cmd|'/c calc'!A1", date: "2026-10-30" },
  ],
  reason: "Change 7 is late",
  overdue: true,
};

function rowsOf(check: CheckResult) {
  return parse<Record<string, string>>(renderAs("poam", aReport([check])), { columns: true });
}

test("has one open line for each rule and plan, with every resource that fails and no waiver covers", () => {
  const [one, two, three] = ["00p1", "00p2", "00p3"].map((id) => ({ type: "policy", id, name: `Policy ${id}` }));
  const findings = [
    { resource: one, fingerprint: "f1", detail: "The first", detected_first: "2026-02-01T00:00:00Z" },
    { resource: two, fingerprint: "f2", detected_first: "2026-01-31T22:00:00-05:00" },
    { resource: three, fingerprint: "f3", detected_first: "2026-01-31T23:00:00Z" },
    { resource: three, fingerprint: "f4", plan: overdue, detail: "Planned" },
    { waived: true, waiver: { reason: "accepted", expires: null }, fingerprint: "waived" },
    { status: "MANUAL", fingerprint: "manual" },
  ].map((changes) => aFinding(changes as Partial<ReturnType<typeof aFinding>>));
  expect(rowsOf(aCheckResult({ findings }))).toMatchObject([
    {
      weakness: "Okta must log out a session after a 15-minute period of inactivity.",
      description: "3 resources fail. The first: The first",
      control: "AC-11; SC-10",
      source_id: "V-273186; SV-273186r1098825_rule; CCI-000057; CCI-001133",
      asset: "acme.okta.com",
      resource_id: "00p1; 00p2; 00p3",
      resource_name: "Policy 00p1; Policy 00p2; Policy 00p3",
      fingerprint: "f1; f2; f3",
      detected_first: "2026-01-31T23:00:00Z",
      planned_date: "",
      overdue: "false",
      milestones: "",
    },
    {
      description: "Planned",
      fingerprint: "f4",
      detected_first: "2026-11-01T10:00:42.000Z",
      planned_date: "2026-10-31",
      overdue: "true",
      milestones: "Draft; reviewed; 2026-10-30 =cmd|'/c calc'!A1",
      comments: "overdue: remediation was planned by 2026-10-31: Change 7 is late",
    },
  ]);
});

test("of very many resources counts what a cell cannot hold", () => {
  const many = Array.from({ length: 2000 }, (_, index) =>
    aFinding({ resource: { type: "app", id: `app-${String(index).padStart(16, "0")}`, name: "a" } }),
  );
  const [row] = rowsOf(aCheckResult({ findings: many }));
  expect(row?.["resource_id"]).toMatch(/^app-0{16}; .*; app-0{12}1362; and 637 more: the report as CSV lists them$/);
  expect(row?.["resource_name"]?.split("; ")).toHaveLength(2000);
});
