import { describe, expect, test } from "vitest";
import type { Report } from "../../../shared/report.ts";
import { reportOf } from "../../support/checklist_reports.ts";
import { aReport, everyVerdict, renderAs } from "../../support/report_builders.ts";

interface Part {
  readonly uuid: string;
  readonly props: readonly { readonly name: string; readonly value: string }[];
  readonly target: { readonly "target-id": string; readonly status: { readonly state: string } };
  readonly "related-observations": readonly { readonly "observation-uuid": string }[];
  readonly "related-risks"?: readonly { readonly "risk-uuid": string }[];
}

/** The parts of the one result; NIST's schema is asked in another test. */
function partsOf(report: Report): Readonly<Record<"observations" | "risks" | "findings", readonly Part[]>> {
  const [result] = JSON.parse(renderAs("oscal", report))["assessment-results"].results;
  return { observations: [], risks: [], findings: [], ...result };
}

const valuesOf = (part: Part | undefined, name: string) =>
  part?.props.filter((prop) => prop.name === name).map(({ value }) => value);

const report = aReport(everyVerdict());
const result = partsOf(report);

test("has an observation for each finding and each attestation, with the ids of its rule", () => {
  const parts = report.checks.flatMap(({ findings, attestation }) => [...findings, ...(attestation ? [1] : [])]);
  expect(result.observations).toHaveLength(parts.length);
  const [first] = result.observations;
  expect(valuesOf(first, "vuln-id")).toEqual(["V-273186"]);
  expect(valuesOf(first, "cci")).toEqual(["CCI-000057", "CCI-001133"]);
});

test("every reference leads to what is there, and no UUID is given twice", () => {
  const uuids = [...renderAs("oscal", report).matchAll(/^\s*"uuid": "(.*)"/gm)].map(([, uuid]) => uuid);
  expect(new Set(uuids).size).toBe(uuids.length);
  for (const part of [...result.findings, ...result.risks]) {
    for (const { "observation-uuid": uuid } of part["related-observations"]) expect(uuids).toContain(uuid);
    for (const { "risk-uuid": uuid } of part["related-risks"] ?? []) expect(uuids).toContain(uuid);
  }
});

test("the UUIDs of another scan are others", () => {
  const other = aReport(everyVerdict(), { scan: { ...report.scan, id: "00000000-0000-4000-8000-000000000000" } });
  expect(renderAs("oscal", other)).not.toContain(result.observations[0]?.uuid);
});

/** In the JSON report, which OSCAL agrees with: it says nothing of a control that is for a person. */
function statusOf(report: Report, id: string) {
  const { controls }: { readonly controls: readonly { id: string; status: string }[] } = JSON.parse(
    renderAs("json", report),
  );
  const status = controls.find((control) => control.id === id)?.status;
  const ofOscal = partsOf(report).findings.find(({ target }) => target["target-id"] === `${id}_obj`);
  const states = { PASS: "satisfied", FAIL: "not-satisfied" };
  expect(ofOscal?.target.status.state).toBe(states[status as "PASS"]);
  return status;
}

function rulesOf(report: Report, ...vulnIds: readonly string[]): Report {
  return aReport(report.checks.filter(({ vuln_id: vulnId }) => vulnIds.includes(vulnId)));
}

describe("a control, of which V-273186 and V-273187 are the rules,", () => {
  const both = ["V-273186", "V-273187"] as const;
  test.each([
    ["fails when one of them fails", rulesOf(reportOf({ "V-273187": "FAIL" }), ...both), "FAIL"],
    [
      "fails when one fails and the other is for a person",
      rulesOf(reportOf({ "V-273187": "FAIL", "V-273186": "MANUAL" }), ...both),
      "FAIL",
    ],
    ["is for a person when one is", rulesOf(reportOf({ "V-273187": "MANUAL" }), ...both), "MANUAL"],
    ["is for a person when one was not examined", rulesOf(reportOf({}), "V-273186"), "MANUAL"],
    ["is met when both are", rulesOf(reportOf({}), ...both), "PASS"],
    ["is none of a scan that examined neither", rulesOf(reportOf({}), "V-273195"), undefined],
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
