import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { examplesOf } from "../command_line/examples.ts";
import { createProgram } from "../program.ts";
import { exitCodeEntries, gatewayVariables, scannerVariables, type Entry } from "./reference_tables.ts";

/** The pages of `docs/reference/` by file name, from the same definitions as `--help` and the manual page. */
export function referencePages(): Readonly<Record<string, string>> {
  const program = createProgram(() => Promise.resolve());
  return {
    "commands.md": page(
      "Commands and flags",
      "Every command with its arguments, options and examples, as `--help` shows them.",
      ...visibleCommands(program).flatMap(commandSection),
    ),
    "environment.md": page(
      "Environment variables",
      "A wrong or missing variable is one error at start that names the variable and the expected value, never its content.",
      "## Scanner",
      table("variable", scannerVariables),
      "## Gateway",
      table("variable", gatewayVariables),
    ),
    "exit_codes.md": page(
      "Exit codes",
      "The exit codes of every command.",
      table("code", exitCodeEntries),
      "`2` wins over `0` and `1`; `3`, `4` and `130` stay. If one output cannot be written, the others still are. Each report is written whole or not at all: the file of an earlier run stays until the new file is complete.",
    ),
  };
}

function page(title: string, ...blocks: readonly string[]): string {
  return `${[`# ${title}`, ...blocks, "`npm run docs:reference` generates this page."].join("\n\n")}\n`;
}

/** Without the `help` that commander adds. */
function visibleCommands(command: Command): readonly Command[] {
  const visible = command.createHelp().visibleCommands(command);
  return command.commands.filter((below) => visible.includes(below));
}

function commandSection(command: Command): readonly string[] {
  const help = command.createHelp();
  const usage = help.commandUsage(command);
  const inputs: readonly Entry[] = [
    ...help
      .visibleArguments(command)
      .map((argument): Entry => [`<${argument.name()}>`, help.argumentDescription(argument)]),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== "--help")
      .map((option): Entry => [option.flags, help.optionDescription(option)]),
  ];
  const below = visibleCommands(command);
  return [
    `## ${usage.split(" [options]", 1)[0] ?? usage}`,
    `${command.description()}.`,
    ...(inputs.length === 0 ? [] : [table("argument or option", inputs)]),
    ...(below.length > 0 ? [] : [`\`\`\`text\n${examplesOf(command).join("\n")}\n\`\`\``]),
    ...below.flatMap(commandSection),
  ];
}

function table(heading: string, entries: readonly Entry[]): string {
  const rows = entries.map(([name, meaning]) => {
    const names = name.split(/(?<!\w) (?=\w)|, (?=[A-Z]{2})| or (?=[A-Z]{2})/).map((one) => `\`${one}\``);
    return `| ${names.join(", ")} | ${meaning.replaceAll("|", "\\|").replaceAll(/(?<!`)<(\w+)>(?!`)|\S+@\S+\.\w+/g, (text) => `\`${text}\``)} |`;
  });
  return [`| ${heading} | meaning |`, "|---|---|", ...rows].join("\n");
}

/** Writes the pages into a folder. */
export async function writeReference(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(referencePages())) await writeFile(join(folder, name), text);
}

if (import.meta.main) await writeReference(join(dirname(import.meta.dirname), "docs/reference"));
