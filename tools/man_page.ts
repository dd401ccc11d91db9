import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Help, type Command, type Option } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { examplesOf } from "../command_line/examples.ts";
import { createProgram } from "../program.ts";
import { exitCodeEntries, gatewayVariables, scannerVariables } from "./reference_tables.ts";

/**
 * The manual, `scanstream(1)`, from the same definitions as `--help`, and from the tables of exit codes and
 * variables. One page, so that `package.json` names it once. `tools/build.ts` writes it into the package.
 */
export async function writeManPage(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const day = new Date(Number(process.env["SOURCE_DATE_EPOCH"] ?? Date.now() / 1000) * 1000).toISOString().slice(0, 10);
  await writeFile(join(folder, "scanstream.1"), manPage(day));
}

/** In the `man` macros of roff; `day` stands in its footer, as `2026-11-22`. */
export function manPage(day: string): string {
  const program = createProgram(() => Promise.resolve());
  const name = program.name();
  const sections = [
    section("NAME", [`${roff(name)} \\- ${roff(program.description())}`]),
    section("SYNOPSIS", [roff(program.createHelp().commandUsage(program))]),
    section("DESCRIPTION", [
      roff(
        "Scans an Okta org against DISA's STIG, and runs a gateway that streams scans to tenants. Each command has --help and shell completion.",
      ),
    ]),
    section("COMMANDS", commandsBelow(program).flatMap(commandLines)),
    section("OPTIONS OF EVERY COMMAND", optionItems(program.createHelp().visibleOptions(program))),
    section(
      "EXIT STATUS",
      exitCodeEntries.flatMap(([code, meaning]) => item(bold(code), plain(meaning))),
    ),
    section(
      "ENVIRONMENT",
      [...scannerVariables, ...gatewayVariables].flatMap(([names, meaning]) => item(bold(names), plain(meaning))),
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
