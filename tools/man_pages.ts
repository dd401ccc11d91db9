import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Help, type Command, type Option } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { examplesOf } from "../command_line/examples.ts";
import { createProgram } from "../program.ts";

/**
 * The manual pages, one for the program and one for each command, from the same definitions as `--help`; what every command
 * shares (exit status, environment) is that of README.md. `tools/build.ts` writes them into the package.
 */
export async function writeManPages(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const readme = await readFile(join(dirname(import.meta.dirname), "README.md"), "utf8");
  const day = new Date(Number(process.env["SOURCE_DATE_EPOCH"] ?? Date.now() / 1000) * 1000).toISOString().slice(0, 10);
  for (const { name, text } of manPages(readme, day)) await writeFile(join(folder, `${name}.1`), text);
}

export interface ManPage {
  /** `scanstream-admin-tenant-create`. */
  readonly name: string;
  /** In the `man` macros of roff. */
  readonly text: string;
}

/** `day` stands in the pages' footer, as `2026-11-22`. */
export function manPages(readme: string, day: string): readonly ManPage[] {
  const program = createProgram(() => Promise.resolve());
  return [
    programPage(program, readme, day),
    ...commandsBelow(program).map((command) => ({ name: pageName(command), text: commandPage(command, day) })),
  ];
}

function commandsBelow(command: Command): readonly Command[] {
  return visibleCommands(command).flatMap((below) => [below, ...commandsBelow(below)]);
}

/** Without the `help` that commander adds. */
function visibleCommands(command: Command): readonly Command[] {
  const visible = command.createHelp().visibleCommands(command);
  return command.commands.filter((below) => visible.includes(below));
}

function programPage(program: Command, readme: string, day: string): ManPage {
  const name = pageName(program);
  const text = page(program, day, [
    section("DESCRIPTION", [
      roff(
        "A scanner that reads an identity provider and judges it against DISA's STIG, and a gateway that streams scans to its tenants while they run.",
      ),
    ]),
    section(
      "COMMANDS",
      commandsBelow(program).flatMap((command) => item(bold(commandWords(command).join(" ")), command.description())),
    ),
    optionsSection("OPTIONS", program.createHelp().visibleOptions(program)),
    section(
      "EXIT STATUS",
      readExitCodes(readme).flatMap(([code, meaning]) => item(bold(code), meaning)),
    ),
    section(
      "ENVIRONMENT",
      readVariables(readme).flatMap(([names, meaning]) => item(bold(names), meaning)),
    ),
    section("FILES", [
      ...item(bold("scanstream.config.json"), "Options and organizations of scan, in the working directory."),
      ...item(bold(".scanstream/"), "State of the local gateway, of follow and of practice-org."),
    ]),
    examplesSection(program),
    seeAlso(commandsBelow(program)),
  ]);
  return { name, text };
}

function commandPage(command: Command, day: string): string {
  const help = command.createHelp();
  const parent = command.parent === null ? [] : [command.parent];
  return page(command, day, [
    section(
      "ARGUMENTS",
      help
        .visibleArguments(command)
        .flatMap((argument) => item(italic(argument.name()), help.argumentDescription(argument))),
    ),
    section(
      "COMMANDS",
      commandsBelow(command).flatMap((below) => item(bold(commandWords(below).join(" ")), below.description())),
    ),
    optionsSection("OPTIONS", help.visibleOptions(command)),
    optionsSection("GLOBAL OPTIONS", help.visibleGlobalOptions(command)),
    examplesSection(command),
    seeAlso([...parent, ...visibleCommands(command)]),
  ]);
}

function page(command: Command, day: string, sections: readonly string[]): string {
  const name = pageName(command);
  const usage = command.createHelp().commandUsage(command);
  return `${[
    '.\\" Made by tools/man_pages.ts from the definitions of the commands.',
    `.TH ${roff(name.toUpperCase())} 1 ${day} "scanstream ${packageJson.version}" "scanstream manual"`,
    section("NAME", [`${roff(name)} \\- ${roff(command.description())}`]),
    section("SYNOPSIS", [roff(usage)]),
    ...sections,
  ]
    .filter((text) => text !== "")
    .join("\n")}\n`;
}

/** Empty without lines. */
function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `.SH ${title}\n${lines.join("\n")}`;
}

function optionsSection(title: string, options: readonly Option[]): string {
  const help = new Help();
  return section(
    title,
    options.flatMap((option) => item(bold(option.flags), help.optionDescription(option))),
  );
}

function examplesSection(command: Command): string {
  const lines = examplesOf(command);
  return section("EXAMPLES", lines.length === 0 ? [] : [".nf", ...lines.map(roff), ".fi"]);
}

function seeAlso(commands: readonly Command[]): string {
  return section("SEE ALSO", [commands.map((command) => `\\fB${roff(pageName(command))}\\fR(1)`).join(",\n")]);
}

function item(term: string, description: string): readonly string[] {
  return [".TP", term, roff(description)];
}

function commandWords(command: Command): readonly string[] {
  return command.parent === null ? [command.name()] : [...commandWords(command.parent), command.name()];
}

function pageName(command: Command): string {
  return commandWords(command).join("-");
}

/** `| \`A\`, \`B\` | meaning |` of the two tables of variables. */
function readVariables(readme: string): readonly (readonly [names: string, meaning: string])[] {
  return ["### Variables of the scanner", "### Variables of the gateway"].flatMap((heading) => {
    const table = requirePart(readme, heading, new RegExp(`^${heading}\n(.*?)(?=^#)`, "ms"));
    const rows = table.split("\n").filter((line) => line.startsWith("| "));
    return rows.slice(1).map((row): readonly [string, string] => {
      const [names = "", meaning = ""] = row.replace(/^\| | \|$/g, "").split(" | ");
      return [plain(names), plain(meaning)];
    });
  });
}

/** `**Exit codes.** \`0\` … · \`1\` …`. */
function readExitCodes(readme: string): readonly (readonly [code: string, meaning: string])[] {
  const text = requirePart(readme, "Exit codes", /^\*\*Exit codes\.\*\* (.*?)\n\n/ms);
  return text
    .replaceAll("\n", " ")
    .split(" · ")
    .map((entry): readonly [string, string] => {
      const [, code = "", meaning = ""] = /^`(\d+)` (.*)$/.exec(entry) ?? [];
      return [code, plain(meaning)];
    });
}

function requirePart(readme: string, what: string, pattern: RegExp): string {
  const [, part] = pattern.exec(readme) ?? [];
  if (part === undefined)
    throw new Error(`Cannot write the manual: README.md has no "${what}" in the form that is read here`);
  return part;
}

/** Without the marks of Markdown. */
function plain(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");
}

function bold(text: string): string {
  return `\\fB${roff(text)}\\fR`;
}

function italic(text: string): string {
  return `\\fI${roff(text)}\\fR`;
}

/** Text as roff shows it: no line of it is a request, and its hyphens can be copied into a shell. */
function roff(text: string): string {
  const escaped = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("…", "...");
  return escaped.replaceAll(/^(?=[.'])/gm, "\\&");
}

if (import.meta.main) await writeManPages(process.argv[2] ?? join(dirname(import.meta.dirname), "dist/man"));
