import { AppError } from "../app_error.ts";
import { errorCode } from "../error_code.ts";
import { isTimeout } from "../with_timeout.ts";

interface UnavailableOptions {
  /** The fault. Only messages and codes are kept: a client's error object may hold the command and its password. */
  readonly cause?: unknown;
  /** Never appear in the error, even when a server repeats them. */
  readonly secrets?: readonly string[];
  readonly retryAfterSeconds?: number;
}

/** How long a caller waits before it tries an unavailable broker again. */
const defaultRetryAfterSeconds = 2;
/** After a refusal, which a person has to mend. */
export const refusedRetryAfterSeconds = 30;
const maxCauseChars = 300;

/** The one way in which a broker fails. The message is for the public; the cause, for the log, names the fault. */
export function unavailable(message: string, options: UnavailableOptions = {}): AppError {
  const { cause, secrets = [], retryAfterSeconds = defaultRetryAfterSeconds } = options;
  const description = cause === undefined ? "" : describe(cause, secrets);
  return new AppError("unavailable", message, {
    retryAfterSeconds,
    ...(description !== "" && { cause: new Error(description) }),
  });
}

interface ServerFacts {
  /** Its name for people. */
  readonly server: string;
  readonly timeoutMs: number;
  readonly secrets: readonly string[];
  /** Errors that a person has to mend, and their meaning. */
  readonly refusals: readonly (readonly [RegExp, string])[];
}

/** Returns why a server did not do it: it refused, it was late (a `TimeoutError`), or it cannot be reached. */
export function serverFailure(action: string, cause: unknown, facts: ServerFacts): AppError {
  const { server, timeoutMs, secrets, refusals } = facts;
  const message = cause instanceof Error ? cause.message : "";
  const refusal = refusals.find(([pattern]) => pattern.test(message))?.[1];
  const fault = isTimeout(cause)
    ? `did not answer within ${timeoutMs / 1000} s`
    : "cannot be reached or does not serve";
  return unavailable(`Cannot ${action}: ${server} ${refusal ?? fault}`, {
    cause,
    secrets,
    ...(refusal !== undefined && { retryAfterSeconds: refusedRetryAfterSeconds }),
  });
}

/** True for a refusal: no waiting ends it. */
export function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && error.retryAfterSeconds === refusedRetryAfterSeconds;
}

export function brokerClosed(action: string): AppError {
  return unavailable(`Cannot ${action}: the broker is closed`);
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
