import { callCommand } from "../support/called_command.ts";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { obtained } from "../../scanner/evidence/artifacts.ts";
import { artifactsDocument } from "../../scanner/evidence/artifacts_document.ts";
import diffSchema from "../../shared/diff.schema.json" with { type: "json" };
import type { Diff } from "../../shared/schemas/diff.ts";
import { aPasswordPolicy, compliantArtifacts, set } from "../support/artifact_builders.ts";
import { aScan } from "../support/report_builders.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  const hostileName = `<script>alert(1)</script> [x](javascript:alert(1)) | \u001b[31m`;
  const lax = set(aPasswordPolicy({ name: hostileName }), "settings.password.age.maxAgeDays", 90);
  await write("before.json", {});
  await write("after.json", { password_policies: obtained([lax]) });
  await write("other.json", {}, "https://other.okta.com");
  await run("evaluate", "--from-artifacts", "after.json", "--output", "report", "--format", "json");
});
afterAll(() => folder[Symbol.asyncDispose]());

async function write(name: string, changes: Parameters<typeof compliantArtifacts>[0], org_url = aScan().org_url) {
  const document = artifactsDocument({
    scan: { ...aScan(), org_url },
    evaluated_at: "2026-11-21T12:00:00.000Z",
    checks: catalog.map(({ name: check }) => check),
    artifacts: compliantArtifacts(changes),
  });
  await writeFile(join(folder.path, name), JSON.stringify(document));
}

const run = (...args: readonly string[]) => callCommand(args, { cwd: folder.path });

test("diff of two files of evidence names what changed, in two formats that no name can break", async () => {
  expect((await run("diff", "before.json", "after.json", "--format", "all", "--output", "diff")).code).toBe(1);
  const read = (extension: string) => readFile(join(folder.path, `diff/diff.${extension}`), "utf8");
  const diff = JSON.parse(await read("json")) as Diff;
  const ajv = new Ajv2020();
  addFormats.default(ajv);
  expect(ajv.compile(diffSchema)(diff)).toBe(true);
  expect(diff.objects).toMatchObject([
    { change: "changed", fields: [{ path: "name" }, { path: "settings.password.age.maxAgeDays", from: 60, to: 90 }] },
  ]);
  const text = await read("txt");
  expect(text).toMatch(/PASS 60 days → FAIL 90 days/);
  expect(text).not.toContain("\u001b");
  const same = await run("diff", "before.json", "before.json");
  expect([same.code, same.stdout.trimEnd().split("\n").at(-1)]).toEqual([0, "No difference"]);
});

test.each([
  ["a report with evidence", "report/scan.json", /one is evidence, the other a report; give two reports or two/],
  ["another organization", "other.json", /about https:\/\/\S+, the other about https:\/\/other\.okta\.com/],
])("diff refuses %s with one line", async (_, after, message) => {
  const { code, stdout, stderr } = await run("diff", "before.json", after);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
});
