import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Command } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProgram } from "../../program.ts";
import { writeManPage } from "../../tools/man_page.ts";
import { temporaryFolder } from "../support/command_line.ts";

const run = promisify(execFile);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let file: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  await writeManPage(folder.path);
  file = join(folder.path, "scanstream.1");
});
afterAll(() => folder[Symbol.asyncDispose]());

test("is valid for mandoc and for groff", async () => {
  expect((await run("mandoc", ["-T", "lint", "-W", "warning", file])).stdout).toBe("");
  const { stderr } = await run("groff", ["-man", "-Tutf8", "-ww", "-z", file]);
  expect(stderr).toBe("");
});

async function shown(): Promise<string> {
  const { stdout } = await run("mandoc", ["-T", "utf8", "-O", "width=200", file]);
  // Bold and underlined letters are struck twice.
  return stdout.replaceAll(/.\u0008/gu, "");
}

test("shows every command with its options and examples, as they can be copied", async () => {
  const text = await shown();
  const everyCommand = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(everyCommand)];
  const commands = everyCommand(createProgram(() => Promise.resolve()));
  for (const command of commands.filter((one) => one.name() !== "__complete")) {
    expect(text).toContain(command.createHelp().commandUsage(command));
    for (const option of command.options.filter(({ hidden }) => !hidden)) expect(text).toContain(option.flags);
  }
  expect(text).not.toContain("__complete");
  expect(text).toMatch(/-f, --format <formats>\n\s+report formats/);
  expect(text).toContain("scanstream scan -f json,html,cklb -o report --fail-on fail:high");
});

test("shows exit status and environment of the reference", async () => {
  const text = await shown();
  expect(text).toMatch(/^ +130 +interrupted/m);
  expect(text).toMatch(/IDP_ORG_URL\n\s+organization address, https:\/\/acme\.okta\.com/);
});
