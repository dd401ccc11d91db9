import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Command, Option } from "commander";
import { examplesOf } from "../command_line/examples.ts";
import { createProgram } from "../program.ts";
import { exitCodeEntries, gatewayVariables, scannerVariables, type Entry } from "./reference_tables.ts";

/** The pages of `docs/reference/` by file name, from the same definitions as `--help` and the manual page. */
export function referencePages(): Readonly<Record<string, string>> {
  const program = createProgram(() => Promise.resolve());
  const shared = sharedOptions(program);
  return {
    "commands.md": page(
      "Commands and flags",
      "Every command with its arguments, options and an example. `--help` has more examples.",
      ...sharedSections(shared),
      ...visibleCommands(program).flatMap((command) => commandSection(command, shared)),
    ),
    "environment.md": page(
      "Environment variables",
      "A wrong or missing variable is one error at start that names the variable and the expected value, never its content.",
      "## Scanner",
      list(scannerVariables),
      "## Gateway",
      list(gatewayVariables),
    ),
    "exit_codes.md": page(
      "Exit codes",
      "The exit codes of every command.",
      list(exitCodeEntries),
      "`2` wins over `0` and `1`; `3`, `4` and `130` stay. If one output cannot be written, the others still are. Each report is written whole or not at all: the file of an earlier run stays until the new file is complete.",
    ),
  };
}

function page(title: string, ...blocks: readonly string[]): string {
  return `${[`# ${title}`, ...blocks].join("\n\n")}\n`;
}

/** Without the `help` that commander adds. */
function visibleCommands(command: Command): readonly Command[] {
  const visible = command.createHelp().visibleCommands(command);
  return command.commands.filter((below) => visible.includes(below));
}

/** Options that several commands take with the same meaning, below the heading of their group in `--help`. */
type SharedOptions = ReadonlyMap<string, readonly Option[]>;

function commandsBelow(command: Command): readonly Command[] {
  return visibleCommands(command).flatMap((below) => [below, ...commandsBelow(below)]);
}

function visibleOptions(command: Command): readonly Option[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long !== "--help");
}

function sharedOptions(program: Command): SharedOptions {
  const all = commandsBelow(program).flatMap(visibleOptions);
  const takers = (option: Option) => all.filter((other) => isSame(option, other));
  const shared = all.filter((option, index) => {
    const same = takers(option);
    return all.findIndex((other) => isSame(option, other)) === index && same.length > (headingOf(same) === "" ? 2 : 1);
  });
  return Map.groupBy(shared, (option) => headingOf(takers(option)) || others);
}

const others = "Others";

/** Of an option that some commands show without a group, the group of the others. */
function headingOf(same: readonly Option[]): string {
  return same.find(({ helpGroupHeading = "" }) => helpGroupHeading !== "")?.helpGroupHeading?.replace(/:$/, "") ?? "";
}

function isSame(one: Option, other: Option): boolean {
  return one.flags === other.flags && one.description === other.description;
}

function sharedSections(shared: SharedOptions): readonly string[] {
  return [
    "## Shared options",
    "A command names the groups from which it takes options after *Also*.",
    ...[...shared].flatMap(([heading, options]) => [`### ${heading}`, list(options.map(optionEntry))]),
  ];
}

/** Names a group alone if the command takes all of it. */
function sharedLine(options: readonly Option[], shared: SharedOptions): readonly string[] {
  const groups = [...shared].flatMap(([heading, all]) => {
    const taken = all.filter((option) => options.some((one) => isSame(one, option)));
    if (taken.length === 0) return [];
    const names = taken.map(({ long, argChoices = [] }) => {
      const isAlone = all.filter((other) => other.long === long).length === 1;
      return isAlone || heading !== others ? `\`${long}\`` : `\`${long} ${argChoices.join("|")}\``;
    });
    if (heading === others) return names;
    const link = `[${heading}](#${heading.toLowerCase().replaceAll(" ", "-")})`;
    const isWhole = new Set(taken.map(({ long }) => long)).size === new Set(all.map(({ long }) => long)).size;
    return isWhole ? [link] : [`${link} (${names.join(", ")})`];
  });
  return groups.length === 0 ? [] : [`Also: ${groups.join(", ")}.`];
}

function commandSection(command: Command, shared: SharedOptions): readonly string[] {
  const help = command.createHelp();
  const usage = help.commandUsage(command);
  const options = visibleOptions(command);
  const isShared = (option: Option) => [...shared.values()].flat().some((one) => isSame(one, option));
  const inputs: readonly Entry[] = [
    ...help
      .visibleArguments(command)
      .map((argument): Entry => [`<${argument.name()}>`, help.argumentDescription(argument)]),
    ...options.filter((option) => !isShared(option)).map(optionEntry),
  ];
  const below = visibleCommands(command);
  const [example = ""] = examplesOf(command);
  // A group of commands has no options, and its commands say what it is for.
  if (below.length > 0 && inputs.length === 0) return below.flatMap((one) => commandSection(one, shared));
  return [
    `## ${(usage.split(" [options]", 1)[0] ?? usage).replace("scanstream ", "")}`,
    `${command.description()}.`,
    ...(inputs.length === 0 ? [] : [list(inputs)]),
    ...sharedLine(options, shared),
    // One that only names the command and its arguments says nothing new.
    ...(!example.replace(/ --tenant \S+/, "").includes(" -") && !example.includes("=")
      ? []
      : [`\`\`\`text\n${example}\n\`\`\``]),
    ...below.flatMap((one) => commandSection(one, shared)),
  ];
}

/** Choices that the description does not name, and a default. */
function optionEntry({ flags, description, argChoices = [], defaultValue }: Option): Entry {
  const unnamed = argChoices.filter((choice) => !description.includes(choice));
  const isSaid = defaultValue === undefined || description.includes("(default: ");
  return [
    flags,
    [
      unnamed.length === 0 ? description : `${description}: ${unnamed.join(", ")}`,
      ...(isSaid ? [] : [`(default: ${String(defaultValue)})`]),
    ].join(" "),
  ];
}

function list(entries: readonly Entry[]): string {
  return entries.map(([name, meaning]) => `- ${namesOf(name)}: ${inMarkdown(meaning)}`).join("\n");
}

/** Several variables that have one meaning are several names. */
function namesOf(name: string): string {
  return name
    .split(/(?:, | or )(?=[A-Z]{2})/)
    .map((one) => `\`${one}\``)
    .join(", ");
}

/** Placeholders and addresses as code, so that no reader of Markdown takes them for tags or links. */
function inMarkdown(meaning: string): string {
  return meaning.replaceAll(/(?<!`)<(\w+)>(?!`)|\S+@\S+\.\w+/g, (text) => `\`${text}\``);
}

/** Writes the pages into a folder. */
export async function writeReference(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(referencePages())) await writeFile(join(folder, name), text);
}

if (import.meta.main) await writeReference(join(dirname(import.meta.dirname), "docs/reference"));
