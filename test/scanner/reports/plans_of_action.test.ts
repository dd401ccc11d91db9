import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { reportFormats } from "../../../scanner/reports/formats.ts";
import { overdueLines } from "../../../scanner/commands/closing_lines.ts";
import type { Finding, Plan } from "../../../shared/report.ts";
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
const findings: readonly Finding[] = [
  aFinding({ plan: overdue, detected_first: "2026-01-02T03:04:05Z" }),
  aFinding({ waived: true, waiver: { reason: "accepted", expires: null }, fingerprint: "waived" }),
  aFinding({ status: "MANUAL", fingerprint: "manual" }),
  aFinding({ status: "PASS", fingerprint: "pass" }),
  aFinding({ resource: { type: "policy", id: "00p2", name: "Contractors" } }),
];
const report = aReport([aCheckResult({ findings })]);

function rowsOf(of = report, isPlanPerFinding = false) {
  return parse<Record<string, string>>(renderAs("poam", of, { isPlanPerFinding }), { columns: true });
}

describe("a plan of action", () => {
  test("has one open line for each rule and plan, with every resource that fails and no waiver covers", () => {
    const one = { type: "policy", id: "00p1", name: "Policy 00p1" };
    const two = { type: "policy", id: "00p2", name: "Policy 00p2" };
    const three = { type: "policy", id: "00p3", name: "Policy 00p3" };
    const of = aReport([
      aCheckResult({
        findings: [
          aFinding({ resource: one, fingerprint: "f1", detail: "The first", detected_first: "2026-02-01T00:00:00Z" }),
          aFinding({ resource: two, fingerprint: "f2", detected_first: "2026-01-31T22:00:00-05:00" }),
          aFinding({ resource: three, fingerprint: "f3", detected_first: "2026-01-31T23:00:00Z" }),
          aFinding({ resource: three, fingerprint: "f4", plan: overdue, detail: "Planned" }),
          aFinding({ waived: true, waiver: { reason: "accepted", expires: null }, fingerprint: "waived" }),
        ],
      }),
    ]);
    const [open, planned, ...others] = rowsOf(of);
    expect(others).toEqual([]);
    expect(open).toMatchObject({
      description: "3 resources fail. The first: The first",
      resource_type: "policy; policy; policy",
      resource_id: "00p1; 00p2; 00p3",
      resource_name: "Policy 00p1; Policy 00p2; Policy 00p3",
      fingerprint: "f1; f2; f3",
      detected_first: "2026-01-31T23:00:00Z",
    });
    expect(planned).toMatchObject({ description: "Planned", fingerprint: "f4", planned_date: "2026-10-31" });
  });

  test("of very many resources counts what a cell cannot hold", () => {
    const many = Array.from({ length: 2000 }, (_, index) =>
      aFinding({ resource: { type: "app", id: `app-${String(index).padStart(16, "0")}`, name: "a" } }),
    );
    const of = aReport([aCheckResult({ findings: many })]);
    const [row] = rowsOf(of);
    expect(row?.["resource_id"]).toMatch(/^app-0{16}; .*; app-0{12}1362; and 637 more: see scan\.csv$/);
    expect(row?.["resource_name"]?.split("; ")).toHaveLength(2000);
  });

  test("says of each what it is, where, how bad, since when, and what is planned", () => {
    const [planned, unplanned] = rowsOf();
    expect(planned).toMatchObject({
      weakness: "Okta must log out a session after a 15-minute period of inactivity.",
      control: "AC-11; SC-10",
      source_id: "V-273186; SV-273186r1098825_rule; CCI-000057; CCI-001133",
      asset: "acme.okta.com",
      resource_name: "Default Policy",
      severity: "medium",
      detected_first: "2026-01-02T03:04:05Z",
      planned_date: "2026-10-31",
      overdue: "true",
      milestones: "Draft; reviewed; 2026-10-30 =cmd|'/c calc'!A1",
      comments: "overdue: remediation was planned by 2026-10-31: Change 7 is late",
    });
    expect(unplanned).toMatchObject({
      resource_name: "Contractors",
      detected_first: "2026-11-01T10:00:42.000Z",
      planned_date: "",
      overdue: "false",
      milestones: "",
    });
  });

  test("has a failure that only a person found", () => {
    const attestation = { status: "FAIL", reason: "seen it", by: "A. Person", expires: null } as const;
    const attested = aReport([aCheckResult({ findings: [aFinding({ status: "MANUAL" })], attestation })]);
    expect(rowsOf(attested)).toMatchObject([{ comments: "Attested FAIL by A. Person: seen it" }]);
  });
});

describe("what is overdue", () => {
  const written = reportFormats.map(({ name }) => name);

  test.each(written)("is said in %s", (name) => {
    const text = renderAs(name, report);
    expect(text).toMatch(/2026-10-31/);
    expect(text).toMatch(/overdue|past the planned remediation date|"deadline"/);
    const { plan: _, ...unplanned } = findings[0] ?? aFinding();
    expect(renderAs(name, aReport([aCheckResult({ findings: [unplanned] })]))).not.toMatch(/2026-10-31/);
  });

  test("is said on one last line of the terminal, however much it is", () => {
    const late = aFinding({ plan: overdue });
    const many = aReport(catalog.map(({ rule }) => aCheckResult({ vuln_id: rule.vuln_id, findings: [late, late] })));
    expect(overdueLines(many)).toEqual([
      `${2 * catalog.length} findings past the planned remediation date: V-273186 (2026-10-31), V-273187 (2026-10-31), V-273188 (2026-10-31), V-273189 (2026-10-31), V-273190 (2026-10-31) and ${catalog.length - 5} more`,
    ]);
    expect(overdueLines(aReport([aCheckResult({ findings: [aFinding()] })]))).toEqual([]);
  });
});
