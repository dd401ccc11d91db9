import type { Environment } from "./config.ts";
import type { Terminal } from "./terminal.ts";

/** What a command may touch beside its arguments. */
export interface CommandIo {
  readonly env: Environment;
  /** The report, and nothing else. Where it cannot be written, the exit code of the command says so. */
  readonly stdout: (text: string) => void;
  /** Aborts when stdout cannot be written: its reader is gone, the disk is full. */
  readonly stdoutFailed: AbortSignal;
  readonly colorStdout: boolean;
  /** Messages and progress. */
  readonly terminal: Terminal;
  /** Aborts when the person interrupts (Ctrl-C, SIGTERM). */
  readonly interrupted: AbortSignal;
  readonly toolVersion: string;
  readonly now: () => Date;
}
