import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand, temporaryFolder } from "../support/command_line.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

const commands = [
  "scan",
  "collect",
  "evaluate",
  "checks",
  "explain",
  "doctor",
  "watch",
  "scans list",
  "scans show",
  "scans cancel",
  "findings list",
  "conformance client",
  "load",
  "follow",
  "diff",
  "practice-org",
  "practice-org change",
  "serve",
  "migrate",
  "admin tenant create",
  "admin tenant list",
  "admin user create",
  "admin user remove",
  "admin api-key create",
  "admin api-key list",
  "admin api-key revoke",
  "admin token create",
];

test.each(commands)("%s --help describes every option and argument", async (command) => {
  const { code, stdout } = await runCommand([...command.split(" "), "--help"], { cwd: folder.path });
  expect(code).toBe(0);
  const inputs = stdout.match(/^  (--?\w|<?[a-z-]+>? {2}).*$/gm) ?? [];
  expect(inputs.length).toBeGreaterThan(0);
  expect(inputs.filter((line) => !/^  \S+( <\S+>|, --\S+)? {2,}\S/.test(line))).toEqual([]);
});

test.each(commands.filter((command) => command.startsWith("admin")))("%s --help gives an example", async (command) => {
  const { stdout } = await runCommand([...command.split(" "), "--help"], { cwd: folder.path });
  const [, example = ""] = /^Example:\n  \$ scanstream (.*)$/m.exec(stdout) ?? [];
  expect(example.startsWith(command)).toBe(true);
  for (const [, option = ""] of stdout.matchAll(/^  (--[a-z]+) <(?!format)\S+>/gm)) expect(example).toContain(option);
});
