import { Command, type OutputConfiguration } from "commander";
import packageJson from "../package.json" with { type: "json" };
import type { CommandIo, GatewayIo } from "./command_io.ts";
import { addCompletionCommands } from "./completion/commands.ts";
import { addExamples } from "./examples.ts";
import { addShortFlags } from "./short_flags.ts";
import { addGatewayCommands } from "../gateway/commands.ts";
import { addWatchCommand } from "./watch/commands.ts";
import { addPracticeOrgCommand } from "../practice_org/commands.ts";
import { addScannerCommands } from "../scanner/commands/commands.ts";

/** Runs one command; a program that only describes commands runs none. */
type Run = (command: (io: CommandIo & GatewayIo) => Promise<number>) => Promise<void>;

/** Every command with its options, arguments and examples: what is parsed, and what help and completion show. */
export function createProgram(run: Run, output: OutputConfiguration = {}): Command {
  const program = new Command("scanstream")
    .description("Check an Okta org against DISA's STIG, keep the evidence, and see what changed")
    .version(packageJson.version)
    .option("--no-color", "no colors (also NO_COLOR, FORCE_COLOR)")
    .showSuggestionAfterError()
    .showHelpAfterError("Add --help to see the arguments, options and examples.")
    .configureHelp({ showGlobalOptions: true, formatItemList, subcommandTerm: (command) => command.name() })
    .configureOutput(output)
    .exitOverride();
  addExamples(program, "scanstream doctor", "scanstream scan", "scanstream help scan");
  addScannerCommands(program, run);
  addWatchCommand(program, run);
  addGatewayCommands(program, run);
  addPracticeOrgCommand(program, run);
  addCompletionCommands(program, run);
  addShortFlags(program);
  for (const [heading, names] of Object.entries(groups))
    for (const command of program.commands) if (names.includes(command.name())) command.helpGroup(heading);
  program.showHelpAfterError("Begin with scanstream setup; scanstream help lists every command.");
  return program;
}

/** The order of the groups in help is that in which the commands are added. */
const groups: Readonly<Record<string, readonly string[]>> = {
  "Scan:": ["setup", "doctor", "scan", "collect", "evaluate", "explain", "fix"],
  "Review:": ["report", "diff", "history", "verify", "org-policy"],
  "Live:": ["follow", "watch"],
  "Gateway:": ["serve", "migrate", "admin"],
  "Try:": ["practice-org"],
};

/** Help of a command leaves out help itself and the options of the program, so that it fits two screens. */
function formatItemList(heading: string, items: readonly string[]): string[] {
  const isKnown = items.length === 1 && /^ *(?:-h, --help|help) /.test(items[0] ?? "");
  return items.length === 0 || isKnown || heading === "Global Options:" ? [] : [heading, ...items, ""];
}
