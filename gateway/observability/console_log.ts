import { hideSecrets, type Log, type LogFields } from "./log.ts";

const levels = ["debug", "info", "warn", "error"] as const;

/** JSON lines by `console`: where the logs of Workers and of Deno Deploy are collected. */
export function createConsoleLog(minLevel: (typeof levels)[number] = "info"): Log {
  const from = levels.indexOf(minLevel);
  const write =
    (level: (typeof levels)[number]) =>
    (fields: LogFields, message: string): void => {
      if (levels.indexOf(level) < from) return;
      const line = JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg: message }, toPlain);
      // oxlint-disable-next-line no-console -- the only output that the runtime has
      console[level](hideSecrets(line));
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

/** Errors have no enumerable fields of their own. */
function toPlain(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return typeof value === "bigint" ? String(value) : value;
  const { name, message, stack, cause } = value;
  return { type: name, message, stack, ...(cause === undefined ? {} : { cause }) };
}
