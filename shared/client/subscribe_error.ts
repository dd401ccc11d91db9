/**
 * Why a subscription failed or is reconnecting.
 *
 * Permanent: `not_authenticated` (401, also with a fresh token), `permission_denied` (403), `not_found` (404), `refused`
 * (another answer that trying again does not change), `not_a_stream` (a 200 that is not an event stream), each of them after an
 * open stream in the gateway's words only, because a proxy answers for a gateway that is away; `no_snapshot` (a first stream that does
 * not begin with the snapshot that `onSnapshot` asks for: an older server), `callback_failed` (a callback of the caller threw; it is the `cause`).
 *
 * Retried: `unavailable` (429, 5xx), `unreachable` (no answer), `timeout` (no answer in time), `closed` (the server
 * ended the stream), `cut` (the connection broke), `silent` (no heartbeat), `garbage` (bytes that are no event, or an
 * event without end), `token_failed` and `refetch_failed` (the caller's own request rejected; it is the `cause`).
 */
export type SubscribeErrorCode =
  | (typeof finalCodes)[number]
  | "unavailable"
  | "unreachable"
  | "timeout"
  | "closed"
  | "cut"
  | "silent"
  | "garbage"
  | "token_failed"
  | "refetch_failed";

const finalCodes = [
  "not_authenticated",
  "permission_denied",
  "not_found",
  "refused",
  "not_a_stream",
  "no_snapshot",
  "callback_failed",
] as const;

export interface SubscribeErrorOptions {
  readonly cause?: unknown;
  /** The HTTP status of the answer. */
  readonly status?: number;
  /** The server's own text: the problem document's `detail`, or the reason of a `: close <reason>` comment. */
  readonly detail?: string | null;
  readonly retryAfterMs?: number | null;
}

/** The message never holds a credential, nor a query in which one could be. */
export class SubscribeError extends Error {
  readonly code: SubscribeErrorCode;
  readonly status: number | null;
  readonly detail: string | null;
  /** When the server allows the next attempt. */
  readonly retryAfterMs: number | null;

  constructor(code: SubscribeErrorCode, message: string, options: SubscribeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "SubscribeError";
    this.code = code;
    this.status = options.status ?? null;
    this.detail = options.detail ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Names the stream by its URL, without what could hold a secret. */
export function streamError(
  url: string,
  code: SubscribeErrorCode,
  what: string,
  options?: SubscribeErrorOptions,
): SubscribeError {
  const shown = url.replace(/[?#].*$/s, "").replace(/^([a-z]+:\/\/)[^/@]*@/i, "$1");
  return new SubscribeError(code, `Cannot follow ${JSON.stringify(shown)}: ${what}`, options);
}

/** True when trying again would get the same answer. */
export function isFinal(
  { code, status, detail }: SubscribeError,
  seen: { readonly wasOpen: boolean; readonly wasLive: boolean },
): boolean {
  if (!finalCodes.some((final) => final === code)) return false;
  // After an open stream, an answer of another kind comes from a proxy and is temporary; so is one of an older server.
  if (code === "no_snapshot") return !seen.wasLive;
  return status === null || detail !== null || !seen.wasOpen;
}
