import type { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "../../command_line/program.ts";
import { runCommand, temporaryFolder } from "../support/command_line.ts";

function below(command: Command, before: string): readonly (readonly [name: string, command: Command])[] {
  const shown = command.commands.filter((each) => each.name() !== "__complete");
  return shown.flatMap((each) => [[`${before}${each.name()}`, each], ...below(each, `${before}${each.name()} `)]);
}

/** As a terminal of 80 columns shows it, with the examples. */
function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 80 });
  command.outputHelp();
  return text;
}

const program = createProgram(() => Promise.resolve());

test.each([["", program] as const, ...below(program, "")])("%s --help fits two screens of 80 × 24", (_, command) => {
  expect(helpOf(command).trimEnd().split("\n").length).toBeLessThanOrEqual(48);
});

test("the command prints it", async () => {
  await using folder = await temporaryFolder();
  const { code, stdout } = await runCommand(["admin", "tenant", "list", "--help"], { cwd: folder.path });
  expect([code, stdout]).toEqual([0, expect.stringContaining("Usage: scanstream admin tenant list")]);
});
