import { execFile } from "node:child_process";
import { cp, readdir, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../support/command_line.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
/** What was written; everything else is as `npm run check` has seen it. */
let made: readonly string[];

/** A copy of the project in which one of each was made. */
beforeAll(async () => {
  folder = await temporaryFolder();
  const { stdout } = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const path of stdout.split("\n")) {
    if (path !== "" && existsSync(join(root, path))) await cp(join(root, path), join(folder.path, path));
  }
  await symlink(join(root, "node_modules"), join(folder.path, "node_modules"));
  const copiedAtMs = Date.now();
  await make("feature", "backup_job");
  await make("format", "mail_digest");
  await make("check", "log_stream_named", "V-999999");
  made = await writtenSince(copiedAtMs);
});

afterAll(() => folder[Symbol.asyncDispose]());

test.each([
  ["format", "node_modules/oxfmt/bin/oxfmt", () => ["--check", ...made]],
  ["lint", "node_modules/oxlint/bin/oxlint", () => ["--type-aware", "--deny-warnings", ...made]],
  ["types", "node_modules/typescript/bin/tsc", () => ["-p", "."]],
  ["unused code", "node_modules/knip/bin/knip.js", () => []],
])(
  "a start of each passes: %s",
  async (_, program, args) => {
    expect(made.length).toBeGreaterThan(10);
    await run(process.execPath, [program, ...args()], { cwd: folder.path });
  },
  120_000,
);

/** Every fast test, or the nearest of them: the whole takes minutes. */
test("a start of each passes its own tests and those of every check and feature", async () => {
  const nearest = [
    "test/gateway/features/backup_jobs",
    "test/gateway/description",
    "test/drizzle/pglite.test.ts",
    "test/drizzle/migrations.test.ts",
    "test/scanner/catalog.test.ts",
    "test/scanner/verdicts_page.test.ts",
    "test/scanner/golden.test.ts",
    "test/scanner/checks/log_stream_named.test.ts",
    "test/scanner/reports/mail_digest.test.ts",
  ];
  const suites = process.env["NIGHTLY"] === "1" ? ["--project", "fast"] : nearest;
  const vitest = ["node_modules/vitest/vitest.mjs", "run", ...suites];
  await run(process.execPath, vitest, { cwd: folder.path, maxBuffer: 100_000_000 });
}, 1_200_000);

test("what exists is not overwritten, and a wrong name says what would be right", async () => {
  await expect(make("format", "csv")).rejects.toThrow("scanner/reports/csv.ts exists");
  await expect(make("format", "Mail")).rejects.toThrow('"Mail" is not a name: expected snake_case');
  await expect(make("check", "a_check")).rejects.toThrow("is no STIG rule: expected");
  await expect(make("widget", "a")).rejects.toThrow('"widget" is nothing that can be made');
  const csv = "scanner/reports/csv.ts";
  expect(await readFile(join(folder.path, csv), "utf8")).toBe(await readFile(join(root, csv), "utf8"));
});

async function make(...args: readonly string[]): Promise<void> {
  await run(process.execPath, ["tools/new.ts", ...args], { cwd: folder.path });
}

async function writtenSince(timeMs: number): Promise<readonly string[]> {
  const names = await readdir(folder.path, { recursive: true });
  const paths = names.filter((name) => !name.startsWith("node_modules"));
  const stats = await Promise.all(paths.map((path) => stat(join(folder.path, path))));
  return paths.filter((_, index) => stats[index]?.isFile() === true && stats[index].mtimeMs >= timeMs);
}
