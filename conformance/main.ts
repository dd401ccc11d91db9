import { CommanderError } from "commander";
import { exitCodes } from "../command_line/exit_code.ts";
import { createProcessIo, openStandardStreams } from "../command_line/process_io.ts";
import { AppError } from "../shared/app_error.ts";
import { UsageError } from "../shared/usage_error.ts";
import { createConformanceProgram } from "./program.ts";

// `npm run conformance -- client …`, `npm run conformance -- gateway URL` and `npm run load -- URL`.
const interruption = new AbortController();
const streams = openStandardStreams();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // A second signal does not wait for the report.
    if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
    interruption.abort();
  });
}
let exitCode: number = exitCodes.ok;
const program = createConformanceProgram(async (command) => {
  const io = createProcessIo(streams, { env: process.env, interrupted: interruption.signal, mayColor: true });
  exitCode = await command(io);
});
try {
  await program.parseAsync();
} catch (error) {
  const isHelp = error instanceof CommanderError && error.exitCode === 0;
  if (!(error instanceof CommanderError || error instanceof UsageError || error instanceof AppError)) throw error;
  // Commander has already written its own message.
  if (!(error instanceof CommanderError)) console.error(error.message);
  exitCode = isHelp ? exitCodes.ok : exitCodes.usage;
}
await streams.flushed();
// A case that failed may have left a stream open, which would keep the process for as long as the gateway lives.
process.exit(exitCode);
