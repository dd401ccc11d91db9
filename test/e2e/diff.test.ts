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
import type { Diff } from "../../shared/schemas/diff.ts";
import { aPasswordPolicy, aScan, compliantArtifacts, set } from "../support/artifact_builders.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
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

function write(name: string, text: string): Promise<void> {
  return writeFile(join(folder.path, name), text);
}

const run = (...args: readonly string[]) => callCommand(args, { cwd: folder.path });

function isValid(schema: object, value: unknown): boolean {
  const ajv = new Ajv2020();
  addFormats.default(ajv);
  return ajv.compile(schema)(value);
}

describe("diff", () => {
  test("diff of two reports", async () => {
    await mkdir(join(folder.path, "before"), { recursive: true });
    await run("evaluate", "--from-artifacts", "before.json", "--output", "before", "--format", "json");
    await run("evaluate", "--from-artifacts", "evidence.json", "--output", "after", "--format", "json");
    const { code, stdout, stderr } = await run("diff", "before/scan.json", "after/scan.json");
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(/Verdict changed\n {2}V-273201 CAT II: policy /);
    expect(stdout).toMatch(/PASS 60 days → FAIL 90 days/);
    expect(stdout).not.toContain("\u001b");
  });

  test("of two files of artifacts names what changed, in two formats that no name can break", async () => {
    const { code } = await run("diff", "before.json", "evidence.json", "--format", "all", "--output", "diff");
    expect(code).toBe(1);
    const read = (extension: string) => readFile(join(folder.path, `diff/diff.${extension}`), "utf8");
    const diff = JSON.parse(await read("json")) as Diff;
    expect(isValid(diffSchema, diff)).toBe(true);
    expect(diff.objects).toMatchObject([
      { change: "changed", fields: [{ path: "name" }, { path: "settings.password.age.maxAgeDays", from: 60, to: 90 }] },
    ]);
    expect(await read("txt")).not.toContain("\u001b");
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
