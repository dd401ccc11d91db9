import { AppError } from "../app_error.ts";
import { errorCode } from "../error_code.ts";

export interface UnavailableOptions {
  /** The fault. Only messages and codes are kept: a client's error object may hold the command and its password. */
  readonly cause?: unknown;
  /** Never appear in the error, even when a server repeats them. */
  readonly secrets: readonly string[];
  readonly retryAfterSeconds?: number;
}

/** How long a caller waits before it tries an unavailable broker again. */
const defaultRetryAfterSeconds = 2;
const maxCauseChars = 300;

/** The one way in which a broker fails. The message is for the public; the cause, for the log, names the fault. */
export function unavailable(message: string, options: UnavailableOptions): AppError {
  const description = options.cause === undefined ? "" : describe(options.cause, options.secrets);
  return new AppError("unavailable", message, {
    retryAfterSeconds: options.retryAfterSeconds ?? defaultRetryAfterSeconds,
    ...(description === "" ? {} : { cause: new Error(description) }),
  });
}

export function brokerClosed(action: string): AppError {
  return unavailable(`Cannot ${action}: the broker is closed`, { secrets: [] });
}

export function tooManyWaiting(): AppError {
  return unavailable("Cannot publish: too many messages wait for the broker", { secrets: [], retryAfterSeconds: 1 });
}

/** The messages and codes of an error and of its causes, without the secrets. */
function describe(error: unknown, secrets: readonly string[]): string {
  const messages: string[] = [];
  for (let current = error, depth = 0; current instanceof Error && depth < 4; current = current.cause, depth += 1) {
    const code = errorCode(current) ?? "";
    messages.push(current.message.includes(code) ? current.message : `${current.message} (${code})`);
  }
  let text = messages.join(": ");
  for (const secret of secrets) if (secret !== "") text = text.replaceAll(secret, "[secret]");
  return text.slice(0, maxCauseChars);
}
