import { Interruption } from "../gateway/runtime/interruption.ts";
import type { CommandIo, GatewayIo } from "./command_io.ts";
import { createProcessIo, openStandardStreams } from "./process_io.ts";
import { hasCode } from "../shared/error_code.ts";
import { exitCodes, isVerdict } from "./exit_code.ts";
import { explainBug, explainError } from "./explain_error.ts";
import { explainWriteError } from "./files.ts";
import { wrapLines } from "./terminal.ts";
import { createProgram } from "./program.ts";

/** The command line: it joins the two halves, which never import each other. */
const interruption = new Interruption();
const streams = openStandardStreams();
/** Time for cleaning up after an unexpected error: a scan publishes its end, a gateway closes its streams. */
const lastWorkMs = 10_000;
let exitCode: number = exitCodes.ok;
let hasRun = false;
let hasBug = false;
const { stderr } = process;
const writeError = (text: string) => void stderr.write(stderr.isTTY ? wrapLines(text, stderr.columns) : text);

const run = async (command: (io: CommandIo & GatewayIo) => Promise<number>): Promise<void> => {
  hasRun = true;
  const { color: mayColor } = program.opts<{ readonly color: boolean }>();
  const { interrupted, skipDelay } = interruption;
  exitCode = await command({ ...createProcessIo(streams, { env: process.env, interrupted, mayColor }), skipDelay });
};

const program = createProgram(run, { writeOut: streams.write, writeErr: writeError });

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // A second Ctrl-C, or a third SIGTERM: no report, no drain.
    if (!interruption.receive(signal)) process.exit(exitCodes.interrupted);
  });
}
// Node's own exit code for an uncaught error is 1, which here means findings.
process.on("uncaughtException", (error) => {
  explainBug(error, writeError);
  if (hasBug || interruption.interrupted.aborted) process.exit(exitCodes.bug);
  hasBug = true;
  interruption.abort(error);
  setTimeout(() => process.exit(exitCodes.bug), lastWorkMs).unref();
});

try {
  const [help, name, ...more] = process.argv.slice(2);
  // Commander answers help about an unknown command with the whole help, and the command itself with its nearest name.
  const isUnknown = help === "help" && more.length === 0 && !program.commands.some((known) => known.name() === name);
  await program.parseAsync(isUnknown && name !== undefined ? [name] : process.argv.slice(2), { from: "user" });
} catch (error) {
  exitCode = explainError(error, { isInterrupted: interruption.interrupted.aborted, write: writeError });
}
// Everything was closed by its owner; a keep-alive socket of a library must not hold the pipeline.
await streams.flushed();
process.exit(hasBug ? exitCodes.bug : withStdoutFailure(exitCode));

/** Output that did not reach stdout is a failure, whether a disk was full or the reader closed the pipe. */
function withStdoutFailure(code: number): number {
  const { aborted: hasFailed, reason } = streams.stdoutFailed;
  // Whoever pipes a help text into head has read enough.
  if (!hasFailed || (!hasRun && hasCode(reason, "EPIPE"))) return code;
  const ended = isVerdict(code) ? exitCodes.usage : code;
  // A scan has said how its gates would end it.
  writeError(`${explainWriteError("standard output", reason)}, so the exit code is ${ended}\n`);
  return ended;
}
