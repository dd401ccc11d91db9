import { writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { createInterface } from "node:readline/promises";
import packageJson from "../package.json" with { type: "json" };
import { wrapLines } from "./terminal.ts";
import type { CommandIo } from "./command_io.ts";

/**
 * Takes stdout and stderr of this process; to be called once. That one cannot be written never ends the process: the first failure of stdout
 * is kept.
 */
export function openStandardStreams() {
  const { stdout, stderr } = process;
  const failure = new AbortController();
  const fail = (error: unknown) => failure.abort(error);
  stdout.on("error", fail);
  stderr.on("error", () => {
    // Nowhere left to report it.
  });
  return {
    /** Aborts when stdout cannot be written, with the system's error as its reason. */
    stdoutFailed: failure.signal,
    write: (text: string): void => {
      if (stdout instanceof Socket) {
        stdout.write(text);
        return;
      }
      // A file: Node's own stream takes it for written when a disk that becomes full took only the beginning.
      try {
        writeFileSync(1, Buffer.from(text));
      } catch (error) {
        fail(error);
      }
    },
    /** Resolves when all of stdout was handed to the system, or could not be. */
    flushed: () =>
      new Promise<void>((resolve) => {
        stdout.write("", (error) => {
          if (error) fail(error);
          resolve();
        });
      }),
  };
}

/** Everything a command may touch, on the streams of this process. `mayColor`: false with `--no-color`. */
export function createProcessIo(
  streams: ReturnType<typeof openStandardStreams>,
  { env, interrupted, mayColor }: Pick<CommandIo, "env" | "interrupted"> & { readonly mayColor: boolean },
): CommandIo {
  const { stdout, stderr } = process;
  // A terminal whose size nobody set has 0 columns.
  const columns = stderr.columns || 100;
  const color = (stream: { readonly isTTY: boolean }) => mayColor && wantsColor(stream, env);
  return {
    env,
    stdout: streams.write,
    stdoutFailed: streams.stdoutFailed,
    colorStdout: color(stdout),
    isStdoutTerminal: stdout.isTTY,
    terminal: {
      isTTY: stderr.isTTY,
      columns,
      color: color(stderr),
      write: (text) => void stderr.write(stderr.isTTY ? wrapLines(text, columns) : text),
    },
    ask: createAsk(interrupted),
    interrupted,
    toolVersion: packageJson.version,
    now: () => new Date(),
  };
}

/** Decides as Node itself does: `FORCE_COLOR`, then `NO_COLOR` (https://no-color.org), then the terminal. Empty is not set. */
export function wantsColor(stream: { readonly isTTY: boolean }, env: CommandIo["env"]): boolean {
  const { NO_COLOR = "", FORCE_COLOR = "", TERM } = env;
  if (FORCE_COLOR !== "") return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return NO_COLOR === "" && stream.isTTY && TERM !== "dumb";
}

/**
 * Asks on the terminal, and gives the line that a person types; null when the person interrupts or closes the input. Null
 * instead of a function: nobody sits there. The terminal itself edits the line, so that Ctrl-C stays a signal.
 */
function createAsk(interrupted: AbortSignal): ((question: string) => Promise<string | null>) | null {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) return null;
  return async (question) => {
    const lines = createInterface({ input: stdin, output: stderr, terminal: false });
    const closed = new Promise<null>((resolve) => {
      lines.once("close", () => resolve(null));
    });
    try {
      return await Promise.race([lines.question(question, { signal: interrupted }), closed]);
    } catch (error) {
      if (interrupted.aborted) return null;
      throw error;
    } finally {
      lines.close();
    }
  };
}
