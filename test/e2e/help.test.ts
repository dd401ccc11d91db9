import type { Command } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProgram } from "../../program.ts";
import { runCommand, temporaryFolder } from "../support/command_line.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

function namesOf(command: Command, before: string): readonly string[] {
  const shown = command.commands.filter((below) => below.name() !== "__complete");
  return shown.flatMap((below) => [`${before}${below.name()}`, ...namesOf(below, `${before}${below.name()} `)]);
}

const commands = namesOf(
  createProgram(() => Promise.resolve()),
  "",
);

test.each(commands)("%s --help describes every option and argument", async (command) => {
  const { code, stdout } = await runCommand([...command.split(" "), "--help"], { cwd: folder.path });
  expect(code).toBe(0);
  const inputs = stdout.match(/^  (--?\w|<?[a-z-]+>? {2}).*$/gm) ?? [];
  expect(inputs.length).toBeGreaterThan(0);
  expect(inputs.filter((line) => !/^  \S+(, --\S+)?( [<[]\S+)? {2,}\S/.test(line))).toEqual([]);
});
