import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
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

test("docs/signing.md line by line, down to openssl", async () => {
  const blocks = [...(await documentText("docs/signing.md")).matchAll(/```sh\n([\s\S]*?)```/g)];
  const lines = blocks.flatMap(([, block = ""]) => block.trim().split("\n"));
  const commands = lines.map((line) => line.replace(/\s+#.*$|\s{2,}\S.*$/, "").split(" "));
  expect(commands.length).toBe(9);
  await run("keygen", "--output", "ed25519", "--algorithm", "ed25519");
  for (const [program = "", ...args] of commands) {
    if (program === "scanstream") {
      const { code, stdout, stderr } = await run(...args);
      expect(code, `${args.join(" ")}\n${stdout}${stderr}`).toBe(args[0] === "evaluate" ? 1 : 0);
      continue;
    }
    if (args[0] === "pkeyutl") {
      const signing = ["--sign", "ed25519", "--output", "again", "--format", "json", "--fail-on", "never", "--quiet"];
      expect((await run("evaluate", "--from-artifacts", "evidence.json", ...signing)).code).toBe(0);
      expect((await run("verify", "again", "--key", "ed25519.pub", "--write-pae", "signed")).code).toBe(0);
    }
    const { stdout } = await promisify(execFile)(program, args, { cwd: stage.path });
    expect(stdout).toMatch(/Verified/);
  }
  // With Ed25519 every byte is the same again.
  for (const name of ["one.zip", "two.zip"]) {
    expect(
      (await run("package", "--from-artifacts", "evidence.json", "--output", name, "--sign", "ed25519")).code,
    ).toBe(0);
  }
  const [one, two] = await Promise.all(["one.zip", "two.zip"].map((name) => readFile(join(stage.path, name))));
  expect(one?.equals(two ?? Buffer.alloc(0))).toBe(true);
  await writeFile(join(stage.path, "again/scan.json"), "{}");
  const forged = await run("verify", "again", "--key", "ed25519.pub");
  expect(forged).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("NOT VERIFIED: scan.json is not the file that was signed"),
  });
});

test.each([
  [["keygen"], "--output FILE is missing"],
  [["keygen", "--output", "org"], "never replaces a key"],
  [["verify", "report"], "--key FILE is missing"],
  [["verify", "none", "--key", "ed25519.pub"], "no such file or folder"],
  [["verify", "report", "--key", "ed25519"], "it is a private key"],
  [["verify", "report", "--key", "ed25519.pub", "--since", "soon"], '--since "soon": expected a time'],
  [["evaluate", "--from-artifacts", "evidence.json", "--sign", "ed25519"], "--sign needs --output DIR"],
  [["package", "--output", "x.zip"], "expected exactly one of --from-artifacts FILE, the id of a scan, or --latest"],
  [["package", "--latest", "--output", "x"], "expected the name of a zip file"],
  [["package", "--latest", "--output", "x.zip"], "expected the address of a gateway"],
])("%j: one clear line, exit code 2", async (args, message) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
});
