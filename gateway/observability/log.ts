import { isUnavailable } from "../../shared/app_error.ts";

/** The gateway's log. */
export type Log = Readonly<Record<LogLevel, (fields: LogFields, message: string) => void>>;

/** Never a URL with its query, a header or a body: what is not put in cannot leak. An error goes under `error`. */
export type LogFields = Readonly<Record<string, unknown>>;

export const levels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof levels)[number];

export interface LogOptions {
  /** Less severe lines are dropped. Default `info`. */
  readonly level?: LogLevel;
  /** Receives each line with its newline. Default: `console`, where the logs of Workers and of Deno Deploy are collected. */
  readonly write?: (line: string) => void;
}

/** JSON lines `{"level", "time", …, "msg"}`, on every runtime. */
export function createLog({ level: minLevel = "info", write }: LogOptions = {}): Log {
  const logAt = (level: LogLevel) => (fields: LogFields, message: string) => {
    if (levels.indexOf(level) < levels.indexOf(minLevel)) return;
    const time = new Date().toISOString();
    const line = hideSecrets(JSON.stringify({ level, time, ...fields, msg: message }, toPlain));
    try {
      // oxlint-disable-next-line no-console -- the only output that every runtime has
      if (write === undefined) console[level](line);
      else write(`${line}\n`);
    } catch {
      // Deno throws where the disk is full. There is nowhere left to report it, and no request fails for it.
    }
  };
  return { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

/** An error has no enumerable fields of the class Error, and other properties may be circular. */
function toPlain(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return typeof value === "bigint" ? String(value) : value;
  return toPlainError(value, isUnavailable(value) || value.name === "TimeoutError");
}

/** An outage has many lines, and the place in the program says nothing about it. */
function toPlainError(error: Error, isOutage: boolean): object {
  const { name, message, stack, cause } = error;
  const code = "code" in error ? String(error.code) : undefined;
  const plainCause = cause instanceof Error ? toPlainError(cause, isOutage) : undefined;
  return { type: name, message, code, ...(!isOutage && { stack }), cause: plainCause };
}

const secretPatterns: readonly (readonly [RegExp, string])[] = [
  // A query parameter, also where an error message quotes a whole URL.
  [/(access_token=)[^&\s"'\\#]+/gi, "$1[hidden]"],
  [/\b((?:bearer|api-key)\s+)[^\s"',\\]+/gi, "$1[hidden]"],
  [/\bscs_([0-9a-f]{8})_[0-9a-f]+/g, "scs_$1_[hidden]"],
  // A JWT, or a part of one, wherever it stands.
  [/\beyJ[\w.-]+/g, "[hidden]"],
  // The password of a URL like DATABASE_URL.
  [/(\w:\/\/[^\s:@/"'\\]*):[^\s@/"'\\]+@/g, "$1:[hidden]@"],
];

/** The last line of defence before a line is written: anything that looks like a secret of the gateway is hidden. */
function hideSecrets(line: string): string {
  return secretPatterns.reduce((text, [pattern, hidden]) => text.replace(pattern, hidden), line);
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
