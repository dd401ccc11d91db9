import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openOrgStage } from "../support/org_stage.ts";
import { failingOrg } from "../support/failing_org.ts";

const { org, path, run } = await openOrgStage({ profile: failingOrg });

test("fix writes a plan and changes nothing in the org", async () => {
  expect(await run("fix", "--output", "plan", "--quiet")).toEqual({
    code: 0,
    stderr: "",
    stdout:
      "37 failing findings are in the plan: 9 objects imported, 4 new\n7 findings left to you, with steps in plan.md\n",
  });
  const files = ["main.tf", "pages", "plan.md", "terraform.tfvars.example", "variables.tf"];
  expect((await readdir(join(path, "plan"))).sort()).toEqual(files);
  expect(await readFile(join(path, "plan/main.tf"), "utf8")).toContain(
    'resource "okta_policy_password_default" "default" {',
  );
  expect(await readFile(join(path, "plan/plan.md"), "utf8")).toContain("imports 9 objects of the org");
  const reads = org.requests.filter(({ path: asked }) => !asked.startsWith("/oauth2/"));
  expect(new Set(reads.map(({ method }) => method))).toEqual(new Set(["GET"]));
});

test("nothing to fix: exit code 0 and no main.tf", async () => {
  const clean = await openOrgStage({ profile: { name: "compliant" } });
  expect(await clean.run("fix", "--output", "clean", "--quiet")).toMatchObject({ code: 0, stderr: "" });
  expect(await readdir(join(clean.path, "clean"))).toEqual(["plan.md"]);
  expect(await readFile(join(clean.path, "clean/plan.md"), "utf8")).toContain("there is nothing to fix");
});

test("a folder that has a main.tf is left alone: one clear line, exit code 2", async () => {
  await mkdir(join(path, "theirs"));
  await writeFile(join(path, "theirs/main.tf"), "# Mine\n");
  expect(await run("fix", "--output", "theirs")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/it has main.tf, and fix replaces no plan/),
  });
  expect(await readdir(join(path, "theirs"))).toEqual(["main.tf"]);
  expect(await readFile(join(path, "theirs/main.tf"), "utf8")).toBe("# Mine\n");
});
