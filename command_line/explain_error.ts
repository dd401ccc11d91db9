import { inspect } from "node:util";
import { CommanderError } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { AppError } from "../shared/app_error.ts";
import { UsageError } from "../shared/usage_error.ts";
import { exitCodes } from "./exit_code.ts";
import { writeLines } from "./terminal.ts";

type Write = (text: string) => void;

/**
 * Writes what ended a command, for the person at the terminal, and returns the exit code. An error that follows from an interruption is not
 * reported.
 */
export function explainError(
  error: unknown,
  { isInterrupted, write }: { readonly isInterrupted: boolean; readonly write: Write },
): number {
  // Commander has already written its own message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof UsageError || error instanceof AppError) {
    // A message may quote a file, or what a server said.
    writeLines({ terminal: { write } }, ...error.message.split("\n"));
    return exitCodes.usage;
  }
  return isInterrupted ? exitCodes.interrupted : explainBug(error, write);
}

export function explainBug(error: unknown, write: Write): number {
  const trace = error instanceof Error ? (error.stack ?? error.message) : inspect(error);
  const first = `This is a bug of scanstream ${packageJson.version}; please report it in the issue tracker, with these lines:`;
  writeLines({ terminal: { write } }, first, ...trace.split("\n"));
  return exitCodes.bug;
}
