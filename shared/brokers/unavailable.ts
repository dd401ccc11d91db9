import { AppError } from "../app_error.ts";
import { errorCode } from "../error_code.ts";

export interface UnavailableOptions {
  /** What went wrong. Only its words and codes are kept: a client's error may hold the command and its password. */
  readonly cause?: unknown;
  /** Never appear in the error, even when a server repeats them. */
  readonly secrets: readonly string[];
  readonly retryAfterSeconds?: number;
}

/** How long a caller waits before it asks a broker again that was away. */
const defaultRetryAfterSeconds = 2;
const maxCauseChars = 300;

/** The one way in which a broker fails. The message is for the public; the cause, for the log, names the fault. */
export function unavailable(message: string, options: UnavailableOptions): AppError {
  const words = options.cause === undefined ? "" : describe(options.cause, options.secrets);
  return new AppError("unavailable", message, {
    retryAfterSeconds: options.retryAfterSeconds ?? defaultRetryAfterSeconds,
    ...(words === "" ? {} : { cause: new Error(words) }),
  });
}

/** The words and codes of an error and of what caused it, without the secrets. */
function describe(error: unknown, secrets: readonly string[]): string {
  const words: string[] = [];
  for (let current = error, depth = 0; current instanceof Error && depth < 4; current = current.cause, depth += 1) {
    const code = errorCode(current) ?? "";
    words.push(current.message.includes(code) ? current.message : `${current.message} (${code})`);
  }
  let text = words.join(": ");
  for (const secret of secrets) if (secret !== "") text = text.replaceAll(secret, "[secret]");
  return text.slice(0, maxCauseChars);
}
