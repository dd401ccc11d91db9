import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { assert, constantFrom, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { reportWriters } from "../../../command_line/report_page.ts";
import { builtIn, catalog } from "../../../scanner/catalog/catalog.ts";
import { readOrgPolicy } from "../../../scanner/org_policy/read_org_policy.ts";
import { aDocument } from "../../support/org_policy_builder.ts";
import { evaluateCheck } from "../../../scanner/evaluate.ts";
import { readXccdf } from "../../../scanner/revisions/read_stig_file.ts";
import { normalized, toRevision, readRevision } from "../../../scanner/revisions/revision.ts";
import { toContext } from "../../../scanner/run_scan.ts";
import type { Report } from "../../../shared/report.ts";
import { ContentError } from "../../../shared/usage_error.ts";
import { callCommand } from "../../support/called_command.ts";
import { ownFolder } from "../../support/clean_up.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";
import { aReport } from "../../support/report_builders.ts";
import { v1r1, v1r1File, zipOf } from "../../support/stig_files.ts";

const folder = await ownFolder();
const secure = await scanPracticeOrg(await startOrg({ profile: { name: "compliant" } }));

const revisionOf = (xccdf: string) => toRevision(readXccdf(xccdf));

test("DISA's file of V1R1 gives, field by field, the rules of the catalog that the revisions share", () => {
  const { benchmark, checks } = revisionOf(v1r1);
  expect(benchmark).toEqual({
    ...builtIn.benchmark,
    id: "okta-idaas-stig-v1r1",
    release_info: "Release: 1 Benchmark Date: 22 Apr 2025",
  });
  expect(checks).toEqual(catalog.slice(0, 24));
});

describe("a text that a check was not written for", () => {
  /** The places in DISA's file of every character of a check text or a fix text. */
  const places = [...v1r1.matchAll(/<(?:check-content|fixtext [^>]*)>([^<]+)</g)].flatMap(
    ({ 0: whole, 1: text = "", index }) => {
      const start = index + whole.indexOf(">") + 1;
      return Array.from({ length: text.length }, (_, offset) => start + offset);
    },
  );

  test("a rule never passes if any single character of its text changed", () => {
    expect(places.length).toBeGreaterThan(15_000);
    const { scan, evaluated_at: evaluatedAt, artifacts } = secure.document;
    const context = toContext({ engine: scan.engine, orgUrl: scan.org_url, evaluatedAt, orgPolicy: null });
    const known = new Map(catalog.map(({ rule }) => [rule.vuln_id, rule]));
    const passing = secure.results.filter(({ status }) => status === "PASS").map(({ vuln_id: id }) => id);
    expect(passing.length).toBeGreaterThan(15);
    assert(
      property(constantFrom(...places), constantFrom("x", " ", "7", ".", "\u00e9"), (place, character) => {
        const mutated = `${v1r1.slice(0, place)}${character}${v1r1.slice(place + 1)}`;
        let revision;
        try {
          revision = revisionOf(mutated);
        } catch (error) {
          // The character stood in an entity.
          expect(error).toBeInstanceOf(ContentError);
          return;
        }
        const changed = revision.checks.filter(({ rule }) => {
          const old = known.get(rule.vuln_id);
          const texts = [rule, old].map((each) => normalized(`${each?.check_text ?? ""}\0${each?.fix_text ?? ""}`));
          return texts[0] !== texts[1];
        });
        expect(changed.length).toBeLessThanOrEqual(1);
        for (const check of changed) {
          const { status, reason } = evaluateCheck(check, artifacts, context);
          expect([check.rule.vuln_id, status, reason]).toEqual([check.rule.vuln_id, "MANUAL", "rule_changed"]);
        }
        expect(revision.checks.filter(({ unjudged }) => unjudged !== undefined)).toEqual(changed);
      }),
      { numRuns: 50 },
    );
  });

  test("takes the limit of its rule away", async () => {
    const changed = revisionOf(
      v1r1.replace('idle time" is set to 15 minutes.\n', 'idle time" is set to 10 minutes.\n'),
    );
    const file = join(folder, "org_policy.json");
    const limits = { global_session_idle_minutes: 10 };
    await writeFile(file, JSON.stringify({ ...aDocument, limits }));
    const source = { option: "--org-policy", file };
    const orgUrl = null;
    expect(await readOrgPolicy(source, { orgUrl, checks: catalog })).toMatchObject({ limits });
    await expect(readOrgPolicy(source, { orgUrl, checks: changed.checks })).rejects.toThrow(
      /no check of the chosen revision of the STIG reads global_session_idle_minutes/,
    );
  });
});

describe("--benchmark FILE", () => {
  const big = Buffer.alloc(30 * 1_048_576, " ");
  const name = "U_Okta/U_Okta_IDaaS_STIG_V1R1_Manual-xccdf.xml";
  const other = v1r1.replace('id="Okta_IDaaS_STIG"', 'id="Windows_11_STIG"');
  test.each<readonly [what: string, content: string | Buffer, problem: RegExp]>([
    ["30 MiB of blanks", zipOf({ [name]: big }), /in its zip is larger than 20 MiB/],
    ["two of the Okta STIG", zipOf({ [name]: v1r1, "b-xccdf.xml": v1r1 }), /two XCCDF files of the Okta STIG/],
    ["a zip of another STIG", zipOf({ [name]: other }), /no XCCDF of the Okta STIG, but "Windows_11_STIG"/],
    ["a zip cut short", zipOf({ [name]: v1r1 }).subarray(0, 5000), /zip is broken/],
    ["another STIG", other, /it is "Windows_11_STIG": expected DISA's STIG Okta_IDaaS_STIG/],
    [
      "a document type",
      v1r1.replace("<Benchmark", '<!DOCTYPE a [<!ENTITY b "c">]><Benchmark'),
      /without a document type/,
    ],
    ["no STIG", "<html/>", /expected an XCCDF <Benchmark>, found <html>/],
    ["no XML", "hello", /neither a zip nor XML/],
    ["no text", Buffer.from([0xff, 0xfe, 0x00]), /not UTF-8 text/],
    ["no release", v1r1.replace("Release: 1 ", ""), /does not say which version and release/],
    ["a rule twice", v1r1.replaceAll("273187", "273186"), /the rule V-273186 twice/],
    [
      "a rule without a check text",
      v1r1.replace(/<check-content>[^<]+/, "<check-content>"),
      /"V-273186" is incomplete/,
    ],
  ])("refuses %s in one line", async (_, content, problem) => {
    const file = join(folder, "hostile");
    await writeFile(file, content);
    const refused = readRevision({ option: "--benchmark", file });
    await expect(refused).rejects.toThrow(problem);
    await expect(refused).rejects.toThrow(/^Cannot use --benchmark "[^\n]+$/);
  });

  test("reads the XCCDF, also out of a zip with other STIGs in it; without a file it is the built-in revision", async () => {
    const zip = join(folder, "stig.zip");
    await writeFile(zip, zipOf({ [name]: v1r1, "other-xccdf.xml": other, "readme.txt": "x" }));
    expect(await readRevision({ option: "--benchmark", file: zip })).toEqual(
      await readRevision({ option: "--benchmark", file: v1r1File }),
    );
    expect((await readRevision({ option: "--benchmark", file: zip })).benchmark.id).toBe("okta-idaas-stig-v1r1");
    expect(await readRevision(null)).toBe(builtIn);
  });
});

test("a rule of another revision alone is MANUAL, the job summary names the revision, and the page writes no file of its report", async () => {
  const cwd = folder;
  await writeFile(join(cwd, "evidence.json"), JSON.stringify(secure.document));
  await writeFile(join(cwd, "next.xml"), v1r1.replaceAll("273186", "000001"));
  const args = ["--from-artifacts", "evidence.json", "--benchmark", "next.xml", "--format", "json", "--output", "."];
  const env = { GITHUB_STEP_SUMMARY: join(cwd, "job.md") };
  expect((await callCommand(["evaluate", ...args, "--fail-on", "never"], { cwd, env })).stderr).not.toMatch(/^Cannot/m);
  expect(await readFile(env.GITHUB_STEP_SUMMARY, "utf8")).toContain(
    "- STIG: Okta Identity as a Service (IDaaS) Security Technical Implementation Guide, V1R1",
  );
  const report = JSON.parse(await readFile(join(cwd, "scan.json"), "utf8")) as Report;
  expect(report.checks).toContainEqual(expect.objectContaining({ vuln_id: "V-000001", reason: "not_automated" }));
  for (const { write } of reportWriters) expect(() => write(report)).toThrow("it is by okta-idaas-stig-v1r1");
  const history = await callCommand(["history", "--from-reports", ".", "--rule", "V-000001", "-f", "csv"], { cwd });
  expect(history.stdout).toContain("V-000001,v_000001,");
});

test("report refuses a stored report with an impossible time, and decisions, which would not change it", async () => {
  const cwd = folder;
  await writeFile(join(cwd, "stored.json"), JSON.stringify(aReport()));
  expect(await callCommand(["report", "stored.json", "-d", "x.json", "-c", "V-273186"], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^--check, --decisions: a report that is already written stays as it was decided/),
  });
  const { scan } = aReport();
  const impossible = aReport([], { scan: { ...scan, started_at: "yesterday" } });
  await writeFile(join(cwd, "stored.json"), JSON.stringify(impossible));
  expect(await callCommand(["report", "stored.json"], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^Cannot use the run, file or scan id ".*": expected a time such as .*, found "yesterday"\n$/,
    ),
  });
});
