import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "boundary-rules-"));
  await cp(join(root, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
  await mkdir(join(folder, "test/lint"), { recursive: true });
  await cp(join(root, "test/lint/boundary_rules.ts"), join(folder, "test/lint/boundary_rules.ts"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const mustFail: readonly (readonly [file: string, source: string, message: string])[] = [
  ["shared/a.ts", `import "../gateway/app.ts";`, "shared/ imports nothing of ours"],
  ["shared/b.ts", `import "node:fs/promises";`, "no node: import"],
  ["shared/c.ts", `export const a = Buffer.from("");`, "may not name Buffer"],
  ["scanner/a.ts", `export * from "../gateway/app.ts";`, "scanner/ never imports gateway/"],
  ["gateway/a.ts", `void import("../scanner/main.ts");`, "gateway/ never imports scanner/"],
  ["drizzle/a.ts", `import "../gateway/app.ts";`, "drizzle/ imports only shared/"],
  ["gateway/b.ts", `import "../test/support/x.ts";`, "product code never imports test/"],
  ["scanner/checks/a.ts", `import "../idp/idp_client.ts";`, "a check sees only"],
  ["scanner/checks/b.ts", `import "node:crypto";`, "no node: import"],
  ["scanner/checks/c.ts", `export const now = () => new Date();`, "may not name Date"],
  ["scanner/checks/d.ts", `export const a = () => fetch("https://example.com");`, "may not name fetch"],
  ["scanner/checks/e.ts", `export const a = () => crypto.randomUUID();`, "may not name crypto"],
  ["gateway/c.ts", `export const port = process.env["PORT"];`, "only mains and config read the environment"],
  ["gateway/d.ts", `export const f = (db: any) => db.transaction(() => 1);`, "only drizzle/with_tenant.ts"],
];

test.each(mustFail)("%s must fail: %s", async (file, source, message) => {
  expect(await lint(file, source)).toContain(message);
});

const mustPass: readonly (readonly [file: string, source: string])[] = [
  ["shared/ok.ts", `export { a } from "./other.ts";`],
  ["scanner/checks/ok.ts", `export { worstStatus } from "../../shared/report.ts";`],
  ["gateway/config.ts", `export const port = process.env["PORT"];`],
  ["drizzle/with_tenant.ts", `export const f = (db: { transaction(): void }) => db.transaction();`],
];

test.each(mustPass)("%s passes", async (file, source) => {
  expect(await lint(file, source)).not.toContain("boundaries");
});

async function lint(file: string, source: string): Promise<string> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), source);
  const result = await run(process.execPath, [join(root, "node_modules/oxlint/bin/oxlint"), file], {
    cwd: folder,
  }).catch((error: { stdout: string }) => error);
  return result.stdout;
}
