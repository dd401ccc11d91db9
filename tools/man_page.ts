import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Help, type Command, type Option } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { examplesOf } from "../command_line/examples.ts";
import { createProgram } from "../program.ts";

/**
 * The manual, `scanstream(1)`, from the same definitions as `--help`; what every command shares (exit status, environment) is
 * that of README.md. One page, so that `package.json` names it once, whatever commands there are. `tools/build.ts` writes it
 * into the package.
 */
export async function writeManPage(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const readme = await readFile(join(dirname(import.meta.dirname), "README.md"), "utf8");
  const day = new Date(Number(process.env["SOURCE_DATE_EPOCH"] ?? Date.now() / 1000) * 1000).toISOString().slice(0, 10);
  await writeFile(join(folder, "scanstream.1"), manPage(readme, day));
}

/** In the `man` macros of roff; `day` stands in its footer, as `2026-11-22`. */
export function manPage(readme: string, day: string): string {
  const program = createProgram(() => Promise.resolve());
  const name = program.name();
  const sections = [
    section("NAME", [`${roff(name)} \\- ${roff(program.description())}`]),
    section("SYNOPSIS", [roff(program.createHelp().commandUsage(program))]),
    section("DESCRIPTION", [
      roff(
        "A scanner that reads an identity provider and judges it against DISA's STIG, and a gateway that streams scans to its tenants while they run. Each command has --help, and completion for a shell.",
      ),
    ]),
    section("COMMANDS", commandsBelow(program).flatMap(commandLines)),
    section("OPTIONS OF EVERY COMMAND", optionItems(program.createHelp().visibleOptions(program))),
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
    section("EXAMPLES", exampleLines(program)),
  ];
  return `${[
    '.\\" Made by tools/man_page.ts from the definitions of the commands.',
    `.TH ${roff(name.toUpperCase())} 1 ${day} "scanstream ${packageJson.version}" "scanstream manual"`,
    ...sections.filter((text) => text !== ""),
  ].join("\n")}\n`;
}

function commandsBelow(command: Command): readonly Command[] {
  return visibleCommands(command).flatMap((below) => [below, ...commandsBelow(below)]);
}

/** Without the `help` that commander adds. */
function visibleCommands(command: Command): readonly Command[] {
  const visible = command.createHelp().visibleCommands(command);
  return command.commands.filter((below) => visible.includes(below));
}

function commandLines(command: Command): readonly string[] {
  const help = command.createHelp();
  // That of every command.
  const options = help.visibleOptions(command).filter(({ long }) => long !== "--help");
  const examples = exampleLines(command);
  return [
    `.SS ${roff(help.commandUsage(command))}`,
    roff(command.description()),
    ...help
      .visibleArguments(command)
      .flatMap((argument) => item(italic(argument.name()), help.argumentDescription(argument))),
    ...optionItems(options),
    ...(examples.length === 0 ? [] : [".PP", "Examples:", ".PP", ...examples]),
  ];
}

function optionItems(options: readonly Option[]): readonly string[] {
  const help = new Help();
  return options.flatMap((option) => item(bold(option.flags), help.optionDescription(option)));
}

function exampleLines(command: Command): readonly string[] {
  const lines = examplesOf(command);
  return lines.length === 0 ? [] : [".nf", ...lines.map(roff), ".fi"];
}

/** Empty without lines. */
function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `.SH ${title}\n${lines.join("\n")}`;
}

function item(term: string, description: string): readonly string[] {
  return [".TP", term, roff(description)];
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

if (import.meta.main) await writeManPage(process.argv[2] ?? join(dirname(import.meta.dirname), "dist/man"));
