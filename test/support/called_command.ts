import packageJson from "../../package.json" with { type: "json" };
import type { CommandIo, GatewayIo } from "../../command_line/command_io.ts";
import { explainError } from "../../command_line/explain_error.ts";
import { createProgram } from "../../command_line/program.ts";
import type { Outcome, RunOptions } from "./command_line.ts";

let calls = 0;
let home = "";

/** As `runCommand`, in this process: for tests about exit code, output and files, which need no process and its start. */
export async function callCommand(
  args: readonly string[],
  { cwd, env = {}, nowMs = Date.now }: Omit<RunOptions, "shell"> & { readonly nowMs?: () => number },
): Promise<Outcome> {
  let stdout = "";
  let stderr = "";
  const write = (text: string) => void (stderr += text);
  const never = new AbortController().signal;
  const io: CommandIo & GatewayIo = {
    env: { HOME: cwd, ...env },
    stdout: (text) => void (stdout += text),
    stdoutFailed: never,
    colorStdout: false,
    isStdoutTerminal: false,
    terminal: { isTTY: false, columns: 100, color: false, write },
    ask: null,
    interrupted: never,
    skipDelay: never,
    toolVersion: packageJson.version,
    now: () => new Date(nowMs()),
  };
  let code = 0;
  const program = createProgram(async (command) => void (code = await command(io)), {
    writeOut: io.stdout,
    writeErr: write,
  });
  if (calls === 0) home = process.cwd();
  calls += 1;
  process.chdir(cwd);
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    code = explainError(error, { isInterrupted: false, write });
  } finally {
    calls -= 1;
    // The folder may be removed before the next call.
    if (calls === 0) process.chdir(home);
  }
  return { code, stdout, stderr };
}
