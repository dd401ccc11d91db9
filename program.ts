import { Command, type OutputConfiguration } from "commander";
import packageJson from "./package.json" with { type: "json" };
import { addClientCommands } from "./clients/commands.ts";
import type { CommandIo, GatewayIo } from "./command_line/command_io.ts";
import { addCompletionCommands } from "./command_line/completion/commands.ts";
import { addExamples } from "./command_line/examples.ts";
import { addShortFlags } from "./command_line/short_flags.ts";
import { addGatewayCommands } from "./gateway/commands.ts";
import { addPracticeOrgCommand } from "./practice_org/commands.ts";
import { addScannerCommands } from "./scanner/commands/commands.ts";

/** Runs one command; a program that only describes commands runs none. */
type Run = (command: (io: CommandIo & GatewayIo) => Promise<number>) => Promise<void>;

/** Every command with its options, arguments and examples: what is parsed, and what help, completion and manual pages show. */
export function createProgram(run: Run, output: OutputConfiguration = {}): Command {
  const program = new Command("scanstream")
    .description("Compliance scans of an identity provider, streamed live")
    .version(packageJson.version)
    .option("--no-color", "no colours (also NO_COLOR; FORCE_COLOR for colours without a terminal)")
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput(output)
    .exitOverride();
  addExamples(program, "scanstream doctor", "scanstream scan --format table", "scanstream help scan");
  addScannerCommands(program, run);
  addClientCommands(program, run, () => import("./scanner/commands/stored_report.ts"));
  addPracticeOrgCommand(program, run);
  addGatewayCommands(program, run);
  addCompletionCommands(program, run);
  addShortFlags(program);
  return program;
}
