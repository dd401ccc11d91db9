import { execFile } from "node:child_process";
import { readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
  const files = "git ls-files -z --cached --others --exclude-standard | tar --null -cf - --ignore-failed-read -T -";
  await run("bash", ["-c", `${files} | tar -xf - -C "$1"`, "bash", folder.path], { cwd: root });
  await symlink(join(root, "node_modules"), join(folder.path, "node_modules"));
  const copiedAtMs = Date.now();
  await make("feature", "backup_job");
  await make("format", "mail_digest");
  await make("check", "log_stream_named", "V-999999");
  made = await writtenSince(copiedAtMs);
  const sources = made.filter((path) => /\.tsx?$/.test(path));
  const project = { extends: "./tsconfig.json", include: [], files: sources };
  await writeFile(join(folder.path, "made.json"), JSON.stringify(project));
});

afterAll(() => folder[Symbol.asyncDispose]());

const isNightly = process.env["NIGHTLY"] === "1";

const checks: readonly [name: string, program: string, args: () => readonly string[]][] = [
  ["format", "node_modules/oxfmt/bin/oxfmt", () => ["--check", ...made]],
  // With all that they import; at night everything.
  ["types", "node_modules/typescript/bin/tsc", () => ["-p", isNightly ? "." : "made.json"]],
  ["lint", "node_modules/oxlint/bin/oxlint", () => ["--type-aware", "--deny-warnings", ...made]],
  ["unused code", "node_modules/knip/bin/knip.js", () => []],
];
test.each(isNightly ? checks : checks.slice(0, 2))(
  "a start of each passes: %s",
  async (_, program, args) => {
    expect(made.length).toBeGreaterThan(10);
    await run(process.execPath, [program, ...args()], { cwd: folder.path });
  },
  120_000,
);

/** At night every fast test, which takes minutes. */
test("a start of each passes its own tests and those of every check and feature", async () => {
  const own = [
    "test/gateway/features/backup_jobs",
    "test/gateway/description",
    "test/drizzle/migrations.test.ts",
    "test/scanner/checks/log_stream_named.test.ts",
    "test/scanner/reports/mail_digest.test.ts",
  ];
  const vitest = ["node_modules/vitest/vitest.mjs", "run", ...(isNightly ? ["--project", "fast"] : own)];
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
