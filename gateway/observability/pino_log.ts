import { pino, stdSerializers, stdTimeFunctions } from "pino";
import { hideSecrets, type Log } from "./log.ts";

export interface PinoLogOptions {
  readonly level: "debug" | "info" | "warn" | "error";
  /** Receives each JSON line with its newline. */
  readonly write: (line: string) => void;
  /** In every line: which of several processes wrote it. */
  readonly pid?: number;
}

/** JSON lines, one per event, for Node and Deno. */
export function createPinoLog(options: PinoLogOptions): Log {
  return pino(
    {
      level: options.level,
      base: options.pid === undefined ? null : { pid: options.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      serializers: { error: stdSerializers.err },
    },
    { write: (line: string) => options.write(hideSecrets(line)) },
  );
}
