import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openOrgStage, type OrgStage } from "../support/org_stage.ts";
import { documentText } from "../support/documented_commands.ts";

let stage: OrgStage;

beforeAll(async () => {
  stage = await openOrgStage();
});

afterAll(() => stage[Symbol.asyncDispose]());

const run = (...args: readonly string[]) => stage.run(...args);

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
  const checklist = (await readFile(edited, "utf8")).replaceAll('"not_reviewed"', '"not_a_finding"');
  await writeFile(edited, checklist);
  const args = ["report", "evidence.json", "--checklist", "edited/scan.cklb", "--sign", "scanner.key"];
  expect(await run(...args)).toMatchObject({ code: 0 });
  expect((await readdir(join(stage.path, "assessor"))).toSorted()).toEqual(
    ["evidence.json", "scan.ckl", "scan.cklb", "scan.html", "scan.intoto.json", "scan.json"].toSorted(),
  );
  const written = await readFile(join(stage.path, "assessor/scan.cklb"), "utf8");
  expect(written).not.toContain('"status": "not_reviewed"');
  const { code, stdout } = await run("verify", "assessor", "--key", "scanner.key.pub");
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining("the evidence gives the same findings"),
  });
});

test.each([
  [["verify", "report"], "--key FILE is missing"],
  [["verify", "report", "--key", "scanner.key"], "it is a private key"],
  [["evaluate", "--from-artifacts", "evidence.json", "--sign", "scanner.key"], "--sign needs --output DIR"],
])("%j: one clear line, exit code 2", async (args, message) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
});
