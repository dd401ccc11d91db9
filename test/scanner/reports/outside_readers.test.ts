import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parse as parseCsv } from "csv-parse/sync";
import { contextualizeEvaluation, convertFile, hdfWrapControl } from "inspecjs";
import { parse as parseTestResults } from "test-results-parser";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { importToStigManager } from "../../support/checklist_reports.ts";
import { requireProgram } from "../../support/machine_tools.ts";
import { aReport, everyVerdict, renderAs } from "../../support/report_builders.ts";

const schemas = join(import.meta.dirname, "../../fixtures/schemas");
const report = aReport(everyVerdict());

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

function render(name: string, of = report): string {
  return renderAs(name, of);
}

async function file(name: string): Promise<string> {
  const path = join(folder.path, `scan.${name}`);
  await writeFile(path, render(name));
  return path;
}

async function schema(name: string): Promise<object> {
  return JSON.parse(await readFile(join(schemas, name), "utf8")) as object;
}

/** The expected result of each rule in a checklist, from the sample's results. */
const expectedResults = new Map(
  report.checks.map((check) => {
    if (check.status === "FAIL") return [check.rule_id, "fail"];
    if (check.attestation?.status === "PASS") return [check.rule_id, "pass"];
    if (check.reason === "not_applicable") return [check.rule_id, "notapplicable"];
    return [check.rule_id, check.status === "PASS" ? "pass" : "notchecked"];
  }),
);

describe("STIG Manager's importer reads", () => {
  const imported = (format: "cklb" | "ckl" | "xccdf", of = report) => importToStigManager(format, render(format, of));

  test.each(["cklb", "ckl", "xccdf"] as const)("%s: benchmark, every rule, statuses and details", (format) => {
    const result = imported(format);
    expect(result.target).toMatchObject({ name: "acme.okta.com" });
    const [checklist] = result.checklists;
    expect(checklist?.benchmarkId).toBe("Okta_IDaaS_STIG");
    expect(checklist?.reviews).toHaveLength(catalog.length);
    const results = new Map(checklist?.reviews.map((review) => [review.ruleId, review.result]));
    expect(results).toEqual(expectedResults);
    for (const review of checklist?.reviews ?? []) {
      const check = report.checks.find((candidate) => candidate.rule_id === review.ruleId);
      expect(review.detail).toContain(check?.findings[0]?.resource.name.slice(0, 12));
    }
  });

  test("the revision of cklb and ckl", () => {
    const [cklb, ckl] = [imported("cklb"), imported("ckl")];
    expect(cklb.checklists[0]?.revisionStr).toBe("V1R2");
    expect(ckl.checklists[0]?.revisionStr).toBe("V1R2");
    expect(ckl.errors ?? []).toEqual([]);
  });

  test("a scan of one check still gives every rule, the rest not reviewed", () => {
    const one = aReport(everyVerdict().slice(0, 1));
    const { checklists } = imported("cklb", one);
    expect(checklists[0]?.reviews).toHaveLength(catalog.length);
    expect(checklists[0]?.reviews.filter((review) => review.result !== "notchecked")).toHaveLength(1);
  });

  test("xccdf: each result as one of an engine, with its product, version and time", () => {
    for (const { resultEngine } of imported("xccdf").checklists[0]?.reviews ?? []) {
      expect(resultEngine).toMatchObject({
        type: "scap",
        product: "scanstream",
        version: "1.2.3",
        time: report.scan.ended_at,
        checkContent: { location: "scanstream" },
      });
    }
  });

  test("xccdf: a verdict that a person attested as one that overrides the engine's", () => {
    const attested = report.checks
      .filter(({ attestation }) => attestation !== null)
      .map(({ rule_id: ruleId }) => ruleId);
    const overridden = imported("xccdf").checklists[0]?.reviews.filter((review) => review.resultEngine?.overrides);
    expect(overridden?.map(({ ruleId }) => ruleId)).toEqual(attested);
    for (const review of overridden ?? []) {
      expect(review.resultEngine?.overrides).toMatchObject([
        { authority: "A. Person", oldResult: "notchecked", newResult: "pass" },
      ]);
    }
  });
});

test("DISA's schema accepts the ckl", async () => {
  await promisify(execFile)(await requireProgram("xmllint"), [
    "--noout",
    "--schema",
    join(schemas, "ckl.xsd"),
    await file("ckl"),
  ]);
});

test("the schema of cklb accepts it, and refuses one without its rules", async () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const validate = ajv.compile(await schema("cklb.schema.json"));
  const checklist = JSON.parse(render("cklb")) as { stigs: { rules?: unknown }[] };
  expect(validate(checklist), JSON.stringify(validate.errors)).toBe(true);
  delete checklist.stigs[0]?.rules;
  expect(validate(checklist)).toBe(false);
});

test("heimdall's reader takes the hdf, with every status", async () => {
  const ajv = new Ajv({ strict: false });
  const validate = ajv.compile(await schema("hdf_exec_json.schema.json"));
  const text = render("hdf");
  expect(validate(JSON.parse(text)), JSON.stringify(validate.errors)).toBe(true);

  const converted = convertFile(text, true)["1_0_ExecJson"];
  if (converted === undefined) throw new Error("inspecjs does not know the file");
  const [profile] = contextualizeEvaluation(converted).contains;
  const statuses = new Map(profile?.contains.map(({ data }) => [data.id, hdfWrapControl(data).status]));
  const names = {
    pass: "Passed",
    fail: "Failed",
    notapplicable: "Not Applicable",
    notchecked: "Not Reviewed",
  } as const;
  for (const check of report.checks) {
    const result = expectedResults.get(check.rule_id) as keyof typeof names;
    expect([check.vuln_id, statuses.get(check.vuln_id)]).toEqual([check.vuln_id, names[result]]);
  }
});

test("the OCSF 1.8.0 schema accepts every event, and refuses one without its class", async () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const validate = ajv.compile(await schema("ocsf_compliance_finding_1.8.0.schema.json"));
  const events = JSON.parse(render("ocsf")) as Record<string, unknown>[];
  expect(events).toHaveLength(report.checks.flatMap((check) => check.findings).length);
  for (const event of events) expect(validate(event), JSON.stringify(validate.errors)).toBe(true);
  const { class_uid: _, ...withoutClass } = events[0] ?? {};
  expect(validate(withoutClass)).toBe(false);
});

test("NIST's schema of OSCAL assessment results accepts them, and refuses one without the controls", async () => {
  const ajv = new Ajv({ strict: false, allowUnionTypes: true });
  addFormats.default(ajv);
  const validate = ajv.compile(await schema("oscal_assessment-results_1.2.1.schema.json"));
  const partial = aReport(everyVerdict().slice(0, 1));
  for (const text of [render("oscal"), render("oscal", partial), render("oscal", aReport([]))]) {
    expect(validate(JSON.parse(text)), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
  }
  const document = JSON.parse(render("oscal")) as { "assessment-results": { results: Record<string, unknown>[] } };
  delete document["assessment-results"].results[0]?.["reviewed-controls"];
  expect(validate(document)).toBe(false);
});

test("the published SARIF 2.1.0 schema accepts the log, and refuses one without runs", async () => {
  const published = (await schema("sarif_2.1.0.schema.json")) as Record<string, unknown>;
  const { $schema: _draft, id: _id, ...draft04 } = published;
  const ajv = new Ajv({ strict: false, unicodeRegExp: false });
  addFormats.default(ajv);
  const validate = ajv.compile(draft04);
  const log = JSON.parse(render("sarif")) as { runs?: unknown };
  expect(validate(log), JSON.stringify(validate.errors)).toBe(true);
  delete log.runs;
  expect(validate(log)).toBe(false);
});

test("a reader of JUnit results counts what failed and what was skipped", async () => {
  const result = parseTestResults({ type: "junit", files: [await file("junit")] });
  expect(result.total).toBe(catalog.length);
  const fails = report.checks.filter((check) => check.status === "FAIL");
  const waived = fails.filter((check) => check.findings.every((finding) => finding.waived));
  expect(result.failed).toBe(fails.length - waived.length);
  expect(result.errors).toBe(0);
  const passed = [...expectedResults.values()].filter((status) => status === "pass").length;
  const cases = result.suites.flatMap((suite) => suite.cases);
  expect(cases.filter((testCase) => testCase.status === "PASS")).toHaveLength(passed);
});

test("a CSV reader gives every finding back, and no cell is a formula", () => {
  // Without a list of delimiters the parser goes by the first one, and a stray CR or LF would pass as text.
  const record_delimiter = ["\r\n", "\n", "\r"];
  const rows = parseCsv<Record<string, string>>(render("csv"), { columns: true, record_delimiter });
  const findings = report.checks.flatMap((check) => check.findings);
  expect(rows).toHaveLength(findings.length);
  expect(rows.map((row) => row["fingerprint"])).toEqual(findings.map((finding) => finding.fingerprint));
  for (const cell of rows.flatMap((row) => Object.values(row))) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  expect(rows.some((row) => row["resource_name"]?.includes("=HYPERLINK"))).toBe(true);
});

test("the table lets no control character of a name reach the terminal", () => {
  expect(render("table")).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});
