import { callCommand } from "../support/called_command.ts";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { obtained } from "../../scanner/evidence/artifacts.ts";
import { artifactsDocument } from "../../scanner/evidence/artifacts_document.ts";
import diffSchema from "../../shared/diff.schema.json" with { type: "json" };
import reportSchema from "../../shared/report.schema.json" with { type: "json" };
import type { Report } from "../../shared/report.ts";
import type { Diff } from "../../shared/schemas/diff.ts";
import { aPasswordPolicy, aScan, compliantArtifacts, set } from "../support/artifact_builders.ts";
import { temporaryFolder } from "../support/command_line.ts";

/** What the pages of docs/ show is run as it stands there, with the files that they show. */

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let cli = "";
beforeAll(async () => {
  folder = await temporaryFolder();
  cli = await page("docs/cli.md");
  const gates = await page("docs/gates.md");
  await write("threshold.yaml", fenced(gates, "yaml"));
  await write("parameters.json", fenced(gates, "json"));
  await write("rules.json", fenced(await page("docs/company_rules.md"), "json"));
  const lax = set(aPasswordPolicy({ name: hostileName }), "settings.password.age.maxAgeDays", 90);
  await write("evidence.json", JSON.stringify(anArtifactFile({ password_policies: obtained([lax]) })));
  await write("before.json", JSON.stringify(anArtifactFile({})));
});
afterAll(() => folder[Symbol.asyncDispose]());

const hostileName = `<script>alert(1)</script> [x](javascript:alert(1)) | \u001b[31m`;

function anArtifactFile(changes: Parameters<typeof compliantArtifacts>[0]) {
  return artifactsDocument({
    scan: aScan(),
    evaluatedAt: "2026-11-21T12:00:00.000Z",
    checks: catalog.map(({ name }) => name),
    artifacts: compliantArtifacts(changes),
  });
}

function page(path: string): Promise<string> {
  return readFile(join(import.meta.dirname, "../..", path), "utf8");
}

function write(name: string, text: string): Promise<void> {
  return writeFile(join(folder.path, name), text);
}

function fenced(text: string, language: string): string {
  return new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "ms").exec(text)?.[1] ?? "";
}

/** The arguments of an example of docs/cli.md. */
function example(command: string): readonly string[] {
  const line = new RegExp(`^scanstream (${command} (?:\\\\\n|.)*)$`, "m").exec(cli)?.[1] ?? "";
  return line.split(/\\?\s+/).filter((word) => word !== "");
}

const run = (...args: readonly string[]) => callCommand(args, { cwd: folder.path });

function isValid(schema: object, value: unknown): boolean {
  const ajv = new Ajv2020();
  addFormats.default(ajv);
  return ajv.compile(schema)(value);
}

describe("the example of docs/cli.md", () => {
  test("evaluate with gates, parameters and company rules", async () => {
    const { code, stderr } = await run(...example("evaluate"));
    const report = JSON.parse(await readFile(join(folder.path, "after/scan.json"), "utf8")) as Report;
    expect(isValid(reportSchema, report)).toBe(true);
    expect(report.benchmark).toBe("okta-idaas-stig-v1r2");
    expect(report.checks).toHaveLength(catalog.length + 2);
    const statusOf = (name: string) => report.checks.find(({ check }) => check === name);
    expect(statusOf("company_acme_1")).toMatchObject({ status: "FAIL", origin: "company", vuln_id: "ACME-1" });
    expect(statusOf("authenticator_password_maximum_age_60d")).toMatchObject({
      status: "PASS",
      tailoring: { effect: "looser", stig_status: "FAIL" },
    });
    // Fails by the stricter value of the organization alone.
    expect(statusOf("signon_global_session_idle_timeout_15min")).toMatchObject({
      status: "FAIL",
      tailoring: { effect: "stricter", stig_status: "PASS" },
    });
    expect(code).toBe(1);
    const lines = stderr.trimEnd().split("\n");
    expect(lines.at(-1)).toMatch(
      /^Exit 1: 1 finding failed \(--fail-on fail:high\): ACME-1; --threshold: compliance\.min is 80, found \d+, failed\.high\.max is 0, found 1\. Not counted: 2 findings failed /,
    );
    // With the summary it is one screen.
    expect(lines.length).toBeLessThan(24);
  });

  test("diff of two reports", async () => {
    await mkdir(join(folder.path, "before"), { recursive: true });
    await run("evaluate", "--from-artifacts", "before.json", "--output", "before", "--format", "json");
    await run("evaluate", "--from-artifacts", "evidence.json", "--output", "after", "--format", "json");
    const { code, stdout, stderr } = await run(...example("diff"));
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(/Verdict changed\n {2}authenticator_password_maximum_age_60d: policy /);
    expect(stdout).toMatch(/PASS 60 days → FAIL 90 days/);
    expect(stdout).not.toContain("\u001b");
  });
});

describe("diff", () => {
  test("of two files of artifacts names what changed, in four formats that no name can break", async () => {
    const { code } = await run("diff", "before.json", "evidence.json", "--format", "all", "--output", "diff");
    expect(code).toBe(1);
    const read = (extension: string) => readFile(join(folder.path, `diff/diff.${extension}`), "utf8");
    const diff = JSON.parse(await read("json")) as Diff;
    expect(isValid(diffSchema, diff)).toBe(true);
    expect(diff.objects).toMatchObject([
      { change: "changed", fields: [{ path: "name" }, { path: "settings.password.age.maxAgeDays", from: 60, to: 90 }] },
    ]);
    expect(await read("html")).not.toContain("<script>alert");
    expect(await read("html")).toContain("&lt;script&gt;");
    expect(await read("md")).not.toMatch(/<script>|(?<!`[^`\n]*)\]\(javascript/);
    for (const extension of ["txt", "md", "html"]) expect(await read(extension)).not.toContain("\u001b");
  });

  test("of the same file exits with 0", async () => {
    const { code, stdout } = await run("diff", "before.json", "before.json");
    expect([code, stdout.trimEnd().split("\n").at(-1)]).toEqual([0, "No difference"]);
  });

  test.each([
    [
      "a report with artifacts",
      "before.json",
      "after/scan.json",
      /one is evidence, the other a report; give two reports or two evidence files/,
    ],
    ["no such file", "before.json", "none.json", /Cannot read the file "none\.json": no such file/],
    ["another file", "before.json", "rules.json", /Cannot compare "rules\.json": it has no schema: expected a report/],
    [
      "another organization",
      "before.json",
      "other.json",
      /about https:\/\/\S+, the other about https:\/\/other\.okta\.com/,
    ],
  ])("refuses %s with one line, and writes nothing", async (_, before, after, message) => {
    const other = anArtifactFile({});
    await write("other.json", JSON.stringify({ ...other, scan: { ...other.scan, org_url: "https://other.okta.com" } }));
    await run("evaluate", "--from-artifacts", "evidence.json", "--output", "after", "--format", "json");
    const { code, stdout, stderr } = await run("diff", before, after, "--output", "refused");
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    await expect(readFile(join(folder.path, "refused/diff.txt"))).rejects.toThrow();
  });
});

describe("bad input", () => {
  test.each([
    ["--fail-on", "fail:hihg", /--fail-on "fail:hihg": expected fail, manual or never/],
    ["--threshold", "rules.json", /Cannot use --threshold "rules\.json": there is no key "checks"/],
    ["--checks", "parameters.json", /Cannot use --checks "parameters\.json": /],
    ["--parameters", "rules.json", /Cannot use --parameters "rules\.json": /],
    ["--checks", "none.json", /Cannot read --checks "none\.json": no such file/],
  ])("%s %s is one clear line, exit 2, and nothing is written", async (option, value, message) => {
    const args = ["evaluate", "--from-artifacts", "evidence.json", "--output", "nothing", option, value];
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    await expect(readFile(join(folder.path, "nothing/scan.txt"))).rejects.toThrow();
  });
});

test("checks and explain show the rules of --checks", async () => {
  const { stdout } = await run("checks", "--checks", "rules.json");
  expect(stdout).toMatch(
    /^ACME-1 +high +Passwords have at least 20 characters\n +company_acme_1 · Read-Only Administrator · policies\.read$/m,
  );
  const explained = await run("explain", "acme-2", "--checks", "rules.json");
  expect(explained.stdout).toContain("ACME-2 · rule of the organization (low)");
  expect(explained.stdout).not.toContain("DISA");
  const parameters = await run("explain", "V-273186");
  expect(parameters.stdout).toContain("global_session_idle_minutes: 15 minutes in the STIG; less is stricter");
});
