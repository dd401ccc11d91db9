#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import packageJson from "./package.json" with { type: "json" };
import { ConfigError as GatewayConfigError } from "./gateway/config.ts";
import { addGatewayCommands, type GatewayIo } from "./gateway/commands.ts";
import { Interruption } from "./gateway/draining.ts";
import type { CommandIo } from "./scanner/command_io.ts";
import { ConfigError as ScannerConfigError } from "./scanner/config.ts";
import { DecisionFileError } from "./scanner/decision_file.ts";
import { exitCodes } from "./scanner/exit_code.ts";
import { addScannerCommands } from "./scanner/main.ts";
import { UsageError } from "./scanner/usage_error.ts";
import { AppError } from "./shared/app_error.ts";

/** The command line: it joins the two halves, which never import each other. */
const interruption = new Interruption();
let exitCode: number = exitCodes.ok;

const run = async (command: (io: CommandIo & GatewayIo) => Promise<number>): Promise<void> => {
  exitCode = await command(commandIo());
};

const program = new Command("scanstream")
  .description("Compliance scans of an identity provider, streamed live")
  .version(packageJson.version)
  .showSuggestionAfterError()
  .configureHelp({ showGlobalOptions: true })
  .exitOverride();
addScannerCommands(program, run);
addGatewayCommands(program, run);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // A second Ctrl-C, or a third SIGTERM: no report, no drain.
    if (!interruption.receive(signal)) process.exit(exitCodes.interrupted);
  });
}
// What escapes every promise and listener: Node's own exit code for it is 1, which here says that there are findings.
process.on("uncaughtException", (error) => process.exit(explainBug(error)));
// The reader of our output went away (`| head`): nothing left to say to it.
process.stdout.on("error", () => process.exit(exitCode));

try {
  await program.parseAsync();
} catch (error) {
  exitCode = explain(error);
}
// Everything was closed by its owner; a keep-alive socket of a library must not hold the pipeline.
process.stdout.write("", () => process.exit(exitCode));

function commandIo(): CommandIo & GatewayIo {
  const { env, stdout, stderr } = process;
  const mayColor = env["NO_COLOR"] === undefined && !process.argv.includes("--no-color");
  return {
    env,
    stdout: (text) => void stdout.write(text),
    colorStdout: mayColor && stdout.isTTY,
    terminal: {
      isTTY: stderr.isTTY,
      columns: stderr.columns ?? 100,
      color: mayColor && stderr.isTTY,
      write: (text) => void stderr.write(text),
    },
    interrupted: interruption.interrupted,
    hurried: interruption.hurried,
    toolVersion: packageJson.version,
    now: () => new Date(),
  };
}

/** Says what went wrong, for the person at the terminal, and gives the exit code. */
function explain(error: unknown): number {
  // Commander has already written its own message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (isUsage(error)) {
    process.stderr.write(`${error.message}\n`);
    return exitCodes.usage;
  }
  if (interruption.interrupted.aborted) return exitCodes.interrupted;
  return explainBug(error);
}

function explainBug(error: unknown): number {
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(
    `This is a bug of scanstream ${packageJson.version}; please report it with these lines:\n${trace}\n`,
  );
  return exitCodes.bug;
}

function isUsage(error: unknown): error is Error {
  return (
    error instanceof UsageError ||
    error instanceof DecisionFileError ||
    error instanceof ScannerConfigError ||
    error instanceof GatewayConfigError ||
    error instanceof AppError
  );
}
