import type { Terminal } from "./terminal.ts";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Everything a command may touch besides its arguments. */
export interface CommandIo {
  readonly env: Environment;
  /** The report, and nothing else. Where it cannot be written, the command's exit code shows it. */
  readonly stdout: (text: string) => void;
  /** Aborts when stdout cannot be written: its reader is gone, the disk is full. */
  readonly stdoutFailed: AbortSignal;
  readonly colorStdout: boolean;
  /** Set where a person reads stdout. */
  readonly isStdoutTerminal: boolean;
  /** Messages and progress. */
  readonly terminal: Terminal;
  /** Asks a person for a line; null instead of it: no terminal. It gives null when the person interrupts. */
  readonly ask: ((question: string) => Promise<string | null>) | null;
  /** Aborts when the person interrupts (Ctrl-C, SIGTERM). */
  readonly interrupted: AbortSignal;
  readonly toolVersion: string;
  readonly now: () => Date;
}

/** Everything a gateway command may touch besides its arguments. */
export interface GatewayIo extends Pick<CommandIo, "env" | "stdout" | "interrupted"> {
  readonly terminal: { write(text: string): void };
  /** Aborts on SIGINT, and on the second signal: the delay for load balancers is skipped. */
  readonly skipDelay: AbortSignal;
}

/** Runs one command and keeps its exit code. */
export type RunCommand = (command: (io: CommandIo) => Promise<number>) => Promise<void>;
