/** Where the gateway's log lines go; pino on Node has this shape, an edge writes them with `console`. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Never a URL with its query, a header or a body: what is not put in cannot leak. An error goes under `error`. */
export type LogFields = Readonly<Record<string, unknown>>;

const secretPatterns: readonly (readonly [RegExp, string])[] = [
  // A query parameter, also where somebody's error message quotes a whole URL.
  [/(access_token=)[^&\s"'\\#]+/gi, "$1[hidden]"],
  [/\b((?:bearer|api-key)\s+)[^\s"',\\]+/gi, "$1[hidden]"],
  [/\bscs_([0-9a-f]{8})_[0-9a-f]+/g, "scs_$1_[hidden]"],
  // A JWT, or a part of one, wherever it stands.
  [/\beyJ[\w.-]+/g, "[hidden]"],
  // The password of a URL like DATABASE_URL.
  [/(\w:\/\/[^\s:@/"'\\]*):[^\s@/"'\\]+@/g, "$1:[hidden]@"],
];

/** The last line of defence before a line is written: whatever looks like a secret of ours is hidden. */
export function hideSecrets(line: string): string {
  return secretPatterns.reduce((text, [pattern, hidden]) => text.replace(pattern, hidden), line);
}

/** For where nobody reads. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
