import { callCommand } from "../support/called_command.ts";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCommandOrg, type CommandOrg } from "../support/org_stage.ts";
import { failingOrg } from "../support/failing_org.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let failing: CommandOrg;
let compliant: CommandOrg;

beforeAll(async () => {
  folder = await temporaryFolder();
  failing = await startCommandOrg(folder.path, { profile: failingOrg });
  compliant = await startCommandOrg(folder.path, { profile: { name: "compliant" } });
});

afterAll(async () => {
  for (const org of [failing, compliant]) await org[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

function fix({ env }: CommandOrg, ...args: readonly string[]) {
  return callCommand(["fix", ...args], { cwd: folder.path, env });
}

function read(directory: string, name: string): Promise<string> {
  return readFile(join(folder.path, directory, name), "utf8");
}

describe("fix", () => {
  test("writes a plan and changes nothing in the org", async () => {
    const { code, stdout, stderr } = await fix(failing, "--output", "plan", "--quiet");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(
      "37 failing findings are in the plan: 9 objects imported, 4 new; 7 findings left to you, with steps in plan.md\n",
    );
    expect((await readdir(join(folder.path, "plan"))).sort()).toEqual([
      "main.tf",
      "pages",
      "plan.md",
      "terraform.tfvars.example",
      "variables.tf",
    ]);
    expect(await read("plan", "main.tf")).toContain('resource "okta_policy_password_default" "default" {');
    expect(await read("plan", "plan.md")).toContain("imports 9 objects of the org");
    const methods = new Set(
      failing.org.requests.filter(({ path }) => !path.startsWith("/oauth2/")).map(({ method }) => method),
    );
    expect(methods).toEqual(new Set(["GET"]));
  });

  test("nothing to fix: exit code 0 and no main.tf", async () => {
    expect(await fix(compliant, "--output", "clean", "--quiet")).toMatchObject({ code: 0, stderr: "" });
    expect(await readdir(join(folder.path, "clean"))).toEqual(["plan.md"]);
    expect(await read("clean", "plan.md")).toContain("there is nothing to fix");
  });

  test.each([
    ["without --output", [], /--output DIR is missing/],
    ["a folder with a main.tf", ["--output", "theirs"], /it has main.tf, and fix replaces no plan/],
  ])("%s: one clear line, exit code 2, nothing written", async (_, args, message) => {
    await mkdir(join(folder.path, "theirs"), { recursive: true });
    await writeFile(join(folder.path, "theirs/main.tf"), "# Mine\n");
    const { code, stdout, stderr } = await fix(failing, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(await readdir(join(folder.path, "theirs"))).toEqual(["main.tf"]);
    expect(await read("theirs", "main.tf")).toBe("# Mine\n");
    expect(await readdir(folder.path)).not.toContain("x");
  });
});
