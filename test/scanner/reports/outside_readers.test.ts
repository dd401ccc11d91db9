import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { contextualizeEvaluation, convertFile, hdfWrapControl } from "inspecjs";
import { parse as parseTestResults } from "test-results-parser";
import { describe, expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { reportFormats } from "../../../scanner/reports/formats.ts";
import type { Report } from "../../../shared/report.ts";
import { ownFolder } from "../../support/clean_up.ts";
import { importToStigManager } from "../../support/checklist_reports.ts";
import { requireProgram } from "../../support/machine_tools.ts";
import { aCheckResult, aFinding, aReport, everyVerdict, renderAs } from "../../support/report_builders.ts";

const schemas = join(import.meta.dirname, "../../fixtures/schemas");
const report = aReport(everyVerdict());

const folder = await ownFolder();

function render(name: string, of = report): string {
  return renderAs(name, of);
}

async function file(name: string): Promise<string> {
  const path = join(folder, `scan.${name}`);
  await writeFile(path, render(name));
  return path;
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
    if (format !== "xccdf") expect(checklist?.revisionStr).toBe("V1R2");
    expect(checklist?.reviews).toHaveLength(catalog.length);
    const results = new Map(checklist?.reviews.map((review) => [review.ruleId, review.result]));
    expect(results).toEqual(expectedResults);
    for (const review of checklist?.reviews ?? []) {
      const check = report.checks.find((candidate) => candidate.rule_id === review.ruleId);
      expect(review.detail).toContain(check?.findings[0]?.resource.name.slice(0, 12));
    }
  });

  test("xccdf: each result as one of an engine, which the verdict that a person attested overrides", () => {
    const engine = { type: "scap", product: "scanstream", version: "1.2.3", time: report.scan.ended_at };
    const overrides = [{ authority: "A. Person", oldResult: "notchecked", newResult: "pass" }];
    const attested = report.checks.flatMap((check) => (check.attestation === null ? [] : [check.rule_id]));
    expect(attested.length).toBeGreaterThan(0);
    for (const { ruleId, resultEngine } of imported("xccdf").checklists[0]?.reviews ?? []) {
      expect(resultEngine).toMatchObject({ ...engine, checkContent: { location: "scanstream" } });
      expect(resultEngine?.overrides ?? []).toMatchObject(attested.includes(ruleId) ? overrides : []);
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

const partial = aReport(everyVerdict().slice(0, 1));
const strict = { strict: false, allowUnionTypes: true } as const;

/** A format with the schema that its readers publish, and a member that this schema requires. */
test.each([
  ["cklb", "cklb.schema.json", new Ajv2020(strict), "stigs"],
  ["hdf", "hdf_exec_json.schema.json", new Ajv(strict), "profiles"],
  ["ocsf", "ocsf_compliance_finding_1.8.0.schema.json", new Ajv2020(strict), "class_uid"],
  ["oscal", "oscal_assessment-results_1.2.1.schema.json", new Ajv(strict), "assessment-results"],
  ["sarif", "sarif_2.1.0.schema.json", new Ajv({ ...strict, unicodeRegExp: false }), "runs"],
])(
  "the published schema of %s accepts every document, and refuses one without a part",
  async (name, file, ajv, part) => {
    addFormats.default(ajv);
    const { $schema: _draft, id: _id, ...published } = JSON.parse(await readFile(join(schemas, file), "utf8"));
    const validate = ajv.compile(published);
    // OCSF has an event for each finding.
    const documents = [report, partial, aReport([])].flatMap((of): object[] => JSON.parse(render(name, of)));
    for (const document of documents)
      expect(validate(document), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
    expect(validate({ ...documents[0], [part]: undefined })).toBe(false);
  },
);

test("heimdall's reader takes the hdf, with every status", () => {
  const converted = convertFile(render("hdf"), true)["1_0_ExecJson"];
  if (converted === undefined) throw new Error("inspecjs does not know the file");
  const [profile] = contextualizeEvaluation(converted).contains;
  const statuses = profile?.contains.map(({ data }) => [data.id, hdfWrapControl(data).status]);
  const names: Readonly<Record<string, string>> = {
    pass: "Passed",
    fail: "Failed",
    notapplicable: "Not Applicable",
    notchecked: "Not Reviewed",
  };
  expect(statuses).toEqual(
    report.checks.map((check) => [check.vuln_id, names[expectedResults.get(check.rule_id) ?? ""]]),
  );
});

test("a reader of JUnit results counts what failed and what was skipped", async () => {
  const result = parseTestResults({ type: "junit", files: [await file("junit")] });
  expect(result.total).toBe(catalog.length);
  const fails = report.checks.filter((check) => check.status === "FAIL");
  expect(result.failed).toBe(fails.length);
  expect(result.errors).toBe(0);
  const passed = [...expectedResults.values()].filter((status) => status === "pass").length;
  const cases = result.suites.flatMap((suite) => suite.cases);
  expect(cases.filter((testCase) => testCase.status === "PASS")).toHaveLength(passed);
});

const hostileTexts: readonly (readonly [name: string, text: string])[] = [
  [
    "control characters, noncharacters and halves of characters",
    `${String.fromCharCode(...Array.from({ length: 0xa0 }, (_, code) => code))}\ud800b\udc00\ud800\ufffe\uffff\ufdd0\u{1fffe}\u202e\u2066\ufeff`,
  ],
  [
    "markup",
    `</script><script>alert(1)</script>' " & < > ]]> <![CDATA[ ]]> --> <!-- -- <?xml version='2'?> <!DOCTYPE x [<!ENTITY y SYSTEM 'file:///'>]> &y;`,
  ],
  ["line ends and percent signs", "a\rb\nc\r\nd\u2028e\u0085f %E0%A4%A %% .. ../.."],
  ["100 kB of wide characters and half of one", `${"😀".repeat(25_000)}\ud83d`],
];

/** The text at every place of a report which a provider, a person who decides, or a stored report can fill. */
function reportWith(text: string): Report {
  const waiver = { reason: text, expires: text };
  const attestation = { status: "FAIL", reason: text, by: text, expires: text } as const;
  const findings = (["FAIL", "MANUAL", "PASS"] as const).map((status) =>
    aFinding({
      status,
      resource: { type: text, id: text, name: text },
      expected: text,
      actual: text,
      detail: text,
      fingerprint: text,
      waived: status === "FAIL",
      waiver: status === "FAIL" ? waiver : null,
    }),
  );
  const report = aReport([
    aCheckResult({ findings, detail: text, attestation, title: text, check: text, stig_id: text }),
    aCheckResult({ findings: findings.slice(1), detail: text, attestation, title: text, vuln_id: text }),
  ]);
  const { scan } = report;
  return { ...report, scan: { ...scan, id: text, org_url: text, client_id: text, granted_scopes: [text] } };
}

test.each(reportFormats.map(({ name }) => name))(
  "%s is written of a report with any text in every place",
  async (name) => {
    const xmlFiles: string[] = [];
    for (const [what, text] of hostileTexts) {
      const rendered = renderAs(name, reportWith(text));
      expect(rendered.isWellFormed(), what).toBe(true);
      expect(rendered.includes("\u0000"), what).toBe(false);
      if (name === "ckl" || name === "xccdf" || name === "junit") {
        const file = join(folder, `${name} of ${what}.xml`);
        await writeFile(file, rendered);
        xmlFiles.push(file);
      }
      if (/json|sarif|ocsf|oscal|cklb|hdf/.test(name)) {
        // Many parsers refuse the escape of half a character, and so does a database's JSON column.
        expect(/\\ud[89a-f][0-9a-f]{2}/.test(rendered), what).toBe(false);
        JSON.parse(rendered);
      }
    }
    if (xmlFiles.length > 0) await promisify(execFile)(await requireProgram("xmllint"), ["--noout", ...xmlFiles]);
  },
);
