import { spawn } from "node:child_process";
import { shorten } from "../../shared/text.ts";
import { UsageError } from "../../shared/usage_error.ts";

export interface ClientProcessOptions {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onLine: (line: string) => void;
  /** Ends it, and what it has started. */
  readonly signal: AbortSignal;
}

const killAfterMs = 2000;
const maxStderrLength = 300;

/**
 * Runs the client under test until it ends. Resolves when all of its output was read, with how it ended; rejects with
 * `UsageError` when it cannot be started.
 */
export function runClientProcess({ command, env, onLine, signal }: ClientProcessOptions): Promise<string> {
  const [program, ...args] = command;
  // Its own process group: a shell's children end with it.
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let errorText = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errorText = (errorText + text).slice(-maxStderrLength);
  });
  // Node's readline takes U+2028 for the end of a line, too, and JSON may hold one.
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(onLine);
  });
  child.stdout.on("end", () => onLine(rest));

  const send = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // All of the group has ended.
    }
  };
  let killing: NodeJS.Timeout | undefined;
  const stop = () => {
    send("SIGTERM");
    killing = setTimeout(send, killAfterMs, "SIGKILL");
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });

  return new Promise<string>((resolve, reject) => {
    child.once("error", (error) =>
      reject(new UsageError([`Cannot start ${JSON.stringify(program)}: ${error.message}`])),
    );
    child.once("close", (code, signalName) => {
      const said = lastLine(errorText);
      resolve(`${code === null ? signalName : `exit code ${code}`}${said === "" ? "" : `: ${shorten(said, 200)}`}`);
    });
  }).finally(() => {
    clearTimeout(killing);
    signal.removeEventListener("abort", stop);
  });
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)?.trim() ?? "";
}
