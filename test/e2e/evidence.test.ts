import { execFile } from "node:child_process";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { obtained } from "../../scanner/evidence/artifacts.ts";
import { artifactsSchema } from "../../scanner/evidence/artifacts_document.ts";
import { reportFormats } from "../../scanner/reports/formats.ts";
import diffSchema from "../../shared/diff.schema.json" with { type: "json" };
import type { Report } from "../../shared/report.ts";
import type { Diff } from "../../scanner/diff/diff_schema.ts";
import { aPasswordPolicy, compliantArtifacts, set } from "../support/artifact_builders.ts";
import { aScan } from "../support/report_builders.ts";
import { importToStigManager } from "../support/checklist_reports.ts";
import { aDocument } from "../support/org_policy_builder.ts";
import { bySchema } from "../support/json_schema.ts";
import { openOrgStage } from "../support/org_stage.ts";
import { v1r1, zipOf } from "../support/stig_files.ts";

/** Evidence of one org: signed, verified, by another revision of the STIG, with a checklist, in every format, and compared. */

const stage = await openOrgStage();
beforeAll(() => stage.run("collect", "--save-artifacts", "evidence.json", "--quiet"));

const run = (...args: readonly string[]) => stage.run(...args);
const read = (name: string) => readFile(join(stage.path, name), "utf8");
const documentText = (name: string) => readFile(join(import.meta.dirname, "../..", name), "utf8");

test("saved evidence has no key and no token", async () => {
  expect(await read("evidence.json")).not.toMatch(/PRIVATE KEY|Bearer|DPoP/);
});

test("a document that has expired is said also where a program reads the report", async () => {
  const { org_url } = (JSON.parse(await read("evidence.json")) as Report).scan;
  const expired = { ...aDocument, org_url, approved_on: "2025-01-01", expires: "2025-12-31" };
  await writeFile(join(stage.path, "expired.json"), JSON.stringify(expired));
  const args = ["--from-artifacts", "evidence.json", "--org-policy", "expired.json", "-f", "json", "-q"];
  expect((await run("evaluate", ...args)).stderr).toContain("expired on 2025-12-31: it decides nothing.");
});

test("docs/reports.md signs and verifies line by line; a changed file is refused", async () => {
  const [, block = ""] = /```sh\n(openssl[\s\S]*?)```/.exec(await documentText("docs/reports.md")) ?? [];
  const commands = block
    .trim()
    .split("\n")
    .map((line) => line.replace(/\s+#.*$/, "").split(" "));
  expect(commands.length).toBe(5);
  for (const [program = "", ...args] of commands) {
    if (program === "openssl") {
      await promisify(execFile)(program, args, { cwd: stage.path });
      continue;
    }
    const { code, stdout, stderr } = await run(...args);
    expect(code, `${args.join(" ")}\n${stdout}${stderr}`).toBe(args[0] === "evaluate" ? 1 : 0);
  }
  await writeFile(join(stage.path, "report/scan.json"), "{}");
  const forged = await run("verify", "report", "--key", "scanner.key.pub");
  expect(forged).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("NOT VERIFIED: scan.json is not the file that was signed"),
  });
});

test("report --checklist --sign writes a folder from which verify gives the findings again", async () => {
  await run("evaluate", "--from-artifacts", "evidence.json", "--format", "cklb", "--output", "edited");
  const edited = join(stage.path, "edited/scan.cklb");
  const checklist = (await read("edited/scan.cklb")).replaceAll('"not_reviewed"', '"not_a_finding"');
  await writeFile(edited, checklist);
  const args = ["report", "evidence.json", "--checklist", "edited/scan.cklb", "--sign", "scanner.key"];
  for (const output of [[], ["--output", "for them"]]) {
    expect(await run(...args, ...output)).toMatchObject({ code: 0 });
    const files = (await readdir(join(stage.path, output[1] ?? "assessor"))).toSorted().join(" ");
    expect(files).toBe("evidence.json scan.ckl scan.cklb scan.html scan.intoto.json scan.json");
  }
  expect(await read("assessor/scan.cklb")).not.toContain('"status": "not_reviewed"');
  const { code, stdout } = await run("verify", "assessor", "--key", "scanner.key.pub");
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining("the evidence gives the same findings"),
  });
});

test("--benchmark DISA's zip of V1R1: its 24 rules are evaluated, and the checklist becomes one of V1R2", async () => {
  const name = "U_Okta_IDaaS_V1R1_Manual_STIG/U_Okta_IDaaS_STIG_V1R1_Manual-xccdf.xml";
  await writeFile(join(stage.path, "v1r1.zip"), zipOf({ [name]: v1r1 }));
  const evaluate = ["evaluate", "--from-artifacts", "evidence.json", "--fail-on", "never"];
  const old = ["--benchmark", "v1r1.zip", "--format", "json,ckl", "--output", "report"];
  expect((await run(...evaluate, ...old)).code).toBe(0);
  const { benchmark, checks } = JSON.parse(await read("report/scan.json")) as Report;
  expect(benchmark).toBe("okta-idaas-stig-v1r1");
  expect(checks).toHaveLength(24);
  expect(checks.filter(({ reason }) => reason === "rule_changed" || reason === "not_automated")).toEqual([]);
  const next = await run(...evaluate, "--checklist", "report/scan.ckl", "--format", "ckl", "--output", "next");
  expect(next.stderr).toContain("New in V1R2: V-279689, V-279690, V-279691, V-279692, V-279693");
  const reviews = async (path: string) => importToStigManager("ckl", await read(path)).checklists[0];
  expect(await reviews("report/scan.ckl")).toMatchObject({ benchmarkId: "Okta_IDaaS_STIG", revisionStr: "V1R1" });
  expect((await reviews("report/scan.ckl"))?.reviews).toHaveLength(24);
  expect(await reviews("next/scan.ckl")).toMatchObject({ revisionStr: "V1R2" });
  expect((await reviews("next/scan.ckl"))?.reviews).toHaveLength(29);
});

const planned = {
  check: "authenticator_password_minimum_length_15",
  reason: "The directory's policy changes first",
  remediation_date: "2026-10-31",
};

test("--format all writes every format, and what a run has to say beside them stays one screen", async () => {
  await cp(join(import.meta.dirname, "../fixtures/checklists/stig_manager.cklb"), join(stage.path, "okta.cklb"));
  await writeFile(join(stage.path, "decisions.json"), JSON.stringify([planned]));
  const options = ["--checklist", "okta.cklb", "--decisions", "decisions.json", "--format", "all", "--output", "out"];
  const { code, stdout, stderr } = await run("evaluate", "--from-artifacts", "evidence.json", ...options);
  expect([code, stdout]).toEqual([1, ""]);
  const files = reportFormats.map(({ extension }) => `scan.${extension}`);
  expect((await readdir(join(stage.path, "out"))).toSorted()).toEqual(files.toSorted());
  const lines = stderr.trimEnd().split("\n");
  expect(lines.length).toBeLessThan(8);
  expect(lines[0]).toBe(`Wrote 14 files to out: ${files.join(", ")}`);
  expect(stderr).toContain("The checklist okta.cklb is about acme.okta.com; this scan is of 127.0.0.1");
  expect(stderr).toMatch(/okta\.cklb contradict this scan: .*V-273195 \(answered Not a Finding, found Open\)/);
  expect(stderr).toMatch(/findings? past the planned remediation date: V-273195 \(2026-10-31\)/);
});

test("the next commands of an evaluation can be pasted, also where its files have a blank in their names", async () => {
  await cp(join(stage.path, "evidence.json"), join(stage.path, "its evidence.json"));
  await writeFile(join(stage.path, "my plans.json"), JSON.stringify([planned]));
  const { stdout, stderr } = await run("evaluate", "--from-artifacts", "its evidence.json", "-d", "my plans.json");
  const options = "--decisions 'my plans.json' --from-artifacts 'its evidence.json' -o fixes";
  expect(`${stdout}${stderr}`).toContain(`scanstream fix ${options}`);
});

test("the example of docs/decisions.md runs as it stands there, with its plan", async () => {
  const text = await documentText("docs/decisions.md");
  const [, line = ""] = /^scanstream scan (--checklist .*)$/m.exec(text) ?? [];
  const decisions = [...text.matchAll(/^```json\n(.*?)^```/gms)].map(([, json = ""]) => json);
  await writeFile(
    join(stage.path, "decisions.json"),
    decisions.find((json) => json.includes("remediation_date")) ?? "",
  );
  const { code, stderr } = await run("evaluate", "--from-artifacts", "evidence.json", ...line.split(" "));
  expect(code, stderr).toBe(1);
  expect(await readdir(join(stage.path, "report"))).toContain("scan.cklb");
  expect(await read("report/scan.poam.csv")).toContain("Approved; 2027-02-28 Rolled out to contractors");
});

async function write(name: string, changes: Parameters<typeof compliantArtifacts>[0], org_url = aScan().org_url) {
  const document = {
    schema: artifactsSchema,
    scan: { ...aScan(), org_url },
    evaluated_at: "2026-11-21T12:00:00.000Z",
    checks: catalog.map(({ name: check }) => check),
    artifacts: compliantArtifacts(changes),
  } as const;
  await writeFile(join(stage.path, name), JSON.stringify(document));
}

describe("diff", () => {
  beforeAll(async () => {
    const hostileName = `<script>alert(1)</script> [x](javascript:alert(1)) | \u001b[31m`;
    const lax = set(aPasswordPolicy({ name: hostileName }), "settings.password.age.maxAgeDays", 90);
    await write("before.json", {});
    await write("after.json", { password_policies: obtained([lax]) });
    await write("other.json", {}, "https://other.okta.com");
    await writeFile(join(stage.path, "foreign.json"), '{"schema":"acme.inventory/2"}');
    await run("evaluate", "--from-artifacts", "after.json", "--output", "after", "--format", "json");
  });

  test("diff of two evidence files names the changes, in two formats that no name can break", async () => {
    expect((await run("diff", "before.json", "after.json", "--format", "all", "--output", "diff")).code).toBe(1);
    const diff = bySchema(diffSchema)(JSON.parse(await read("diff/diff.json"))) as Diff;
    expect(diff.objects).toMatchObject([
      { change: "changed", fields: [{ path: "name" }, { path: "settings.password.age.maxAgeDays", from: 60, to: 90 }] },
    ]);
    const text = await read("diff/diff.txt");
    expect(text).toMatch(/PASS 60 days → FAIL 90 days/);
    expect(text).not.toContain("\u001b");
    const same = await run("diff", "before.json", "before.json");
    expect([same.code, same.stdout.trimEnd().split("\n").at(-1)]).toEqual([0, "No difference"]);
  });

  test.each([
    ["a report with evidence", "after/scan.json", /one is evidence, the other a report; give two reports or two/],
    ["a file of another schema", "foreign.json", /"foreign\.json": it has the schema "acme\.inventory\/2": expected a/],
    ["another organization", "other.json", /about https:\/\/\S+, the other about https:\/\/other\.okta\.com/],
  ])("refuses %s with one line", async (_, after, message) => {
    const { code, stdout, stderr } = await run("diff", "before.json", after);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});
