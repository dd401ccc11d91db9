import { expect, test } from "vitest";
import { reportFormats } from "../../../scanner/reports/formats.ts";
import { aCheckResult, aFinding, aReport } from "../../support/report_builders.ts";

const options = { color: false, width: 400, toolVersion: "0.0.0" };
const decided = { by: "ada@acme.example", source: "gateway", expires: "2099-01-31" } as const;

/** A plan of action lists what no waiver covers. */
const planFormats: ReadonlySet<string> = new Set(["poam"]);
const formats = reportFormats.filter(({ name }) => !planFormats.has(name));

test.each(formats)("$name names who waived a finding, until when, and that the gateway keeps it", (format) => {
  const finding = aFinding({ waived: true, waiver: { reason: "Moves in January", ...decided } });
  const text = format.render(aReport([aCheckResult({ findings: [finding] })]), options);
  for (const part of ["Moves in January", "ada@acme.example", "gateway", "2099-01-31"]) expect(text).toContain(part);
});

test.each(formats)("$name names who attested a check, until when, and that the gateway keeps it", (format) => {
  const findings = [aFinding({ status: "MANUAL" })];
  const attestation = { status: "PASS", reason: "Looked at it", ...decided } as const;
  const text = format.render(aReport([aCheckResult({ findings, attestation })]), options);
  for (const part of ["Looked at it", "ada@acme.example", "gateway", "2099-01-31"]) expect(text).toContain(part);
});
