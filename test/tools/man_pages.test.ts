import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../program.ts";
import { manPages } from "../../tools/man_pages.ts";
import { builtPackage } from "../support/command_line.ts";

const run = promisify(execFile);
const folder = join(builtPackage, "man");
const readme = await readFile(join(import.meta.dirname, "../../README.md"), "utf8");
const pages = manPages(readme, "2026-11-22");

test("the built package has a page for the program and for each command", async () => {
  const names = createProgram(() => Promise.resolve()).commands.map((command) => command.name());
  const files = (await readdir(folder)).toSorted();
  expect(files).toEqual(pages.map(({ name }) => `${name}.1`).toSorted());
  for (const name of names.filter((one) => one !== "__complete")) expect(files).toContain(`scanstream-${name}.1`);
  expect(files).not.toContain("scanstream-__complete.1");
});

describe.each(pages.map(({ name }) => name))("%s(1)", (name) => {
  test("is valid for mandoc", async () => {
    const { stdout } = await run("mandoc", ["-T", "lint", "-W", "warning", join(folder, `${name}.1`)]);
    expect(stdout).toBe("");
  });
});

async function shown(name: string): Promise<string> {
  const { stdout } = await run("mandoc", ["-T", "utf8", "-O", "width=200", join(folder, `${name}.1`)]);
  // Bold and underlined letters are struck twice.
  return stdout.replaceAll(/.\u0008/gu, "");
}

test("the program's page shows commands, exit status and environment", async () => {
  const text = await shown("scanstream");
  expect(text).toMatch(/scanstream admin tenant create\n\s+make a tenant\n/);
  expect(text).toMatch(/^ +130 +interrupted/m);
  expect(text).toMatch(/IDP_ORG_URL\n\s+organization address, https:\/\/acme\.okta\.com/);
  expect(text).toMatch(/SEE ALSO\n.*scanstream-scan\(1\)/);
});

test("a command's page shows its options and examples, as they can be copied", async () => {
  const text = await shown("scanstream-scan");
  expect(text).toMatch(/-f, --format <formats>\n\s+one or several of these/);
  expect(text).toContain("scanstream scan -f json,html,cklb -o report --fail-on fail:high");
});

test("text that looks like a request of roff stays text", () => {
  const hostile = readme.replace("`0` nothing to fail on", "`0` .so /etc/passwd\n'br \\fB");
  const [page] = manPages(hostile, "2026-11-22");
  expect(page?.text).toContain("\\&.so /etc/passwd 'br \\efB");
});

test("names what is missing where README.md has another form", () => {
  expect(() => manPages("# scanstream\n", "2026-11-22")).toThrow('README.md has no "Exit codes"');
});
