import { expect, test } from "vitest";
import { reportFormats } from "../../../scanner/reports/formats.ts";
import { writeFormats } from "../../../scanner/reports/write_reports.ts";
import type { CheckResult } from "../../../shared/report.ts";
import { aPasswordPolicy, compliantArtifacts, evaluate, set } from "../../support/artifact_builders.ts";
import { obtained } from "../../../scanner/evidence/artifacts.ts";
import { aCheckResult, aFinding, aReport, everyVerdict, renderAs } from "../../support/report_builders.ts";

/** Facts that no format leaves out. */

const formats = reportFormats.map(({ name }) => name);
const decided = { reason: "Looked at it", by: "ada@acme.example", source: "gateway", expires: "2099-01-31" } as const;
const plan = { remediation_date: "2026-10-31", milestones: [], reason: "Change 7 is late", overdue: true } as const;

const textOf = (format: string, check: CheckResult) =>
  renderAs(format, aReport([check]), { width: 400 }).replaceAll(/\s+/g, " ");

test.each(formats)("%s names who waived a finding, until when, and that the gateway keeps it", (format) => {
  // A plan of action lists what no waiver covers.
  if (format === "poam") return;
  const text = textOf(format, aCheckResult({ findings: [aFinding({ waived: true, waiver: decided })] }));
  for (const part of Object.values(decided)) expect(text).toContain(part);
});

test.each(formats)("%s names who attested a rule, until when, and that the gateway keeps it", (format) => {
  const status = format === "poam" ? "FAIL" : "PASS";
  const findings = [aFinding({ status: "MANUAL" })];
  const text = textOf(format, aCheckResult({ findings, attestation: { status, ...decided } }));
  for (const part of Object.values(decided)) expect(text).toContain(part);
});

test.each(["table", "markdown", "html", "cklb", "ckl"])("%s lists what fails before what needs a person", (format) => {
  const review = aFinding({
    status: "MANUAL",
    reason: "needs_review",
    detail: "Needs a person",
    actual: "Needs a person",
  });
  const failing = aFinding({ detail: "Fails today", actual: "Fails today" });
  const text = textOf(format, aCheckResult({ findings: [...Array.from({ length: 60 }, () => review), failing] }));
  const [before = ""] = text.split(/Needs a person/);
  expect(before).toContain("Fails today");
});

test.each(formats)("%s says what is planned, and that it is overdue", (format) => {
  const text = textOf(format, aCheckResult({ findings: [aFinding({ plan })] }));
  expect(text).toMatch(/2026-10-31/);
  expect(text).toMatch(/overdue|past the planned remediation date|"deadline"/);
});

test.each(formats)("%s names a limit of the organization's own, and keeps the STIG's verdict", (format) => {
  if (format === "oscal" || format === "poam") return;
  const policy = set(aPasswordPolicy(), "settings.password.age.maxAgeDays", 90);
  const artifacts = compliantArtifacts({ password_policies: obtained([policy]) });
  const parameters = { password_maximum_age_days: 90 };
  const text = textOf(format, evaluate("authenticator_password_maximum_age_60d", artifacts, { parameters }));
  expect(text).toContain("password_maximum_age_days");
  expect(text).toMatch(/FAIL|"fail(?:ed)?"|"open"|<STATUS>Open<|<result>fail<|<failure|message="waived/);
});

test.each(formats)("%s is the same text for the same report", (format) => {
  expect(renderAs(format, aReport(everyVerdict()))).toBe(renderAs(format, aReport(everyVerdict())));
});

test("a format whose text would be too long is named, and the others are written", async () => {
  const written: string[] = [];
  const endless = { name: "oscal", extension: "json", render: () => "x".repeat(2 ** 30) };
  const short = { name: "csv", extension: "csv", render: () => "short" };
  const target = {
    formats: [endless, short],
    outputDir: null,
    name: "scan",
    stdout: (text: string) => void written.push(text),
  };
  const { problems } = await writeFormats(aReport(), {}, target);
  expect(written).toEqual(["short"]);
  expect(problems).toEqual([expect.stringContaining("Cannot write oscal: its text would be longer than 512 MiB")]);
});
