import { describe, expect, test } from "vitest";
import { builtIn } from "../../../scanner/catalog/catalog.ts";
import { benchmarkRules } from "../../../scanner/reports/report_format.ts";
import { parseChecklist, otherAssetOf } from "../../../scanner/checklists/checklist.ts";
import { importToStigManager } from "../../support/checklist_reports.ts";
import { aCheckResult, aFinding, aReport, renderAs } from "../../support/report_builders.ts";

function reportOf(orgUrl: string) {
  const report = aReport();
  return { ...report, scan: { ...report.scan, org_url: orgUrl } };
}

test.each([
  ["https://acme.okta.com", "acme.okta.com", "acme.okta.com", ""],
  ["https://acme.okta.com:443/", "acme.okta.com", "acme.okta.com", ""],
  ["https://acme.okta.com:8443/", "acme.okta.com", "acme.okta.com", "acme.okta.com:8443"],
  ["http://127.0.0.1:34669", "127.0.0.1", "127.0.0.1", "127.0.0.1:34669"],
  ["http://[::1]:34669", "::1", "::1", "[::1]:34669"],
  ["http://localhost:8080", "localhost", "", "localhost:8080"],
  ["no address", "no address", "", ""],
])("the asset of a checklist of %s is the host %s, with a port as its site", (orgUrl, host, fqdn, site) => {
  const report = reportOf(orgUrl);
  const metadata = { cklHostName: host, cklWebDbSite: site };
  for (const format of ["cklb", "ckl", "xccdf"] as const) {
    const { target } = importToStigManager(format, renderAs(format, report));
    expect(target.name).toBe(host);
    if (format !== "xccdf") expect(target.fqdn ?? "").toBe(fqdn);
    expect(target.metadata).toEqual(expect.objectContaining(site === "" ? {} : metadata));
    expect("cklWebOrDatabase" in target.metadata).toBe(site !== "");
  }
  for (const [index, format] of (["cklb", "ckl"] as const).entries()) {
    const checklist = parseChecklist(renderAs(format, report), `edited.${format}`);
    expect(otherAssetOf(checklist, orgUrl)).toBe(null);
    expect(otherAssetOf(checklist, `http://127.0.0.1:${index + 1}`)).toBe(site || fqdn || null);
  }
});

test.each(["poam", "hdf", "sarif", "junit", "oscal", "html", "markdown"])(
  "%s keeps two orgs on two ports of one host apart",
  (format) => {
    const report = aReport([aCheckResult({ findings: [aFinding({ status: "FAIL" })] })]);
    const text = renderAs(format, { ...report, scan: { ...report.scan, org_url: "http://a.test:8001" } });
    // Once besides the address of the org.
    expect(text.replaceAll("http://a.test:8001", "")).toMatch(/a\.test(:|%3A)8001/);
    expect(text).not.toMatch(/a\.test(?!(:|%3A)8001)/);
  },
);

describe("the details of a rule", () => {
  test("name the requests that were answered, with their time", () => {
    const read_from = "GET /api/v1/policies/{id}/rules at 2026-11-26T06:51:23.659Z";
    const [known] = benchmarkRules(aReport([aCheckResult({ findings: [aFinding({ read_from })] })]), builtIn);
    expect(known?.details).toContain(`Read from ${read_from}\n`);
  });

  test("details of a rule have failures first, fit STIG Manager, and name the number left out", () => {
    const passing = Array.from({ length: 3000 }, () => aFinding({ status: "PASS" }));
    const [rule] = benchmarkRules(
      aReport([aCheckResult({ findings: [...passing, aFinding({ detail: "Failing one" })] })]),
      builtIn,
    );
    const details = rule?.details ?? "";
    expect(details.length).toBeLessThan(31_000);
    expect(details.split("\n")[0]).toBe("FAIL: Failing one");
    expect(details).toMatch(/\nand \d+ more findings: the report as CSV lists them$/);
  });
});
