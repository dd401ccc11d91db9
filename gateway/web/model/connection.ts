import {
  SubscribeError,
  type StateDetail,
  type SubscribeErrorCode,
  type SubscriptionState,
} from "../../../shared/client/subscribe.ts";
import { GatewayRefusal } from "../../../shared/http_refusal.ts";

/** How a stream of the page is connected, in words for people. */
export interface Connection {
  readonly state: SubscriptionState;
  /** Why it is reconnecting or has failed, for people. */
  readonly problem: string | null;
  /** With `reconnecting`: when the next try begins, by `performance.now()`; null while it is under way. */
  readonly retryAtMs: number | null;
}

export const noConnection: Connection = { state: "connecting", problem: null, retryAtMs: null };

export function isLost({ state }: Pick<Connection, "state">): boolean {
  return state === "reconnecting" || state === "failed";
}

export function toConnection(state: SubscriptionState, { error, retryInMs }: StateDetail): Connection {
  const problem = error === null ? null : toProblem(error);
  return { state, problem, retryAtMs: retryInMs > 0 ? performance.now() + retryInMs : null };
}

/** True for a refusal in the gateway's own words, which a repeated request would get again. */
export function isFinal(error: unknown): boolean {
  return error instanceof GatewayRefusal && error.detail !== null && [401, 403, 404].includes(error.httpStatus);
}

const closeWords: Readonly<Record<string, string>> = {
  expired: "the sign-in expired",
  revoked: "access was revoked",
  slow: "this browser did not keep up",
  lost: "the gateway lost its broker",
  lifetime: "maximum stream lifetime reached",
  drain: "the gateway is restarting",
  ended: "the stream ended",
};

const lostWords: Readonly<Partial<Record<SubscribeErrorCode, string>>> = {
  cut: "The connection to the gateway broke",
  unreachable: "The gateway cannot be reached",
  timeout: "The gateway does not answer",
  silent: "The gateway stopped sending",
  garbage: "The stream could not be read",
};

/** Says what went wrong, for people: an error's own words, unless it is the browser's. */
export function toProblem(error: unknown): string {
  if (error instanceof SubscribeError) return streamProblem(error);
  // The gateway may have done it, although its answer was lost.
  if (!(error instanceof Error) || error instanceof TypeError) return "No answer came from the gateway";
  return error.name === "TimeoutError" ? "The gateway does not answer" : error.message;
}

function streamProblem({ code, detail, status, cause }: SubscribeError): string {
  if (code === "refetch_failed") return toProblem(cause);
  if (code === "closed") return `The gateway closed the stream: ${closeWords[detail ?? "ended"] ?? detail ?? ""}`;
  return (
    lostWords[code] ?? detail ?? `The gateway refused the stream${status === null ? "" : ` with status ${status}`}`
  );
}
