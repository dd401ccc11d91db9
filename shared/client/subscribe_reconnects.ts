import { runAttempt } from "./subscribe_attempt.ts";
import { isFinal, SubscribeError } from "./subscribe_error.ts";
import type { RawEvent, StateDetail, SubscribeSettings, SubscriptionState } from "./subscribe_options.ts";

/** The side of a subscription that the reconnects see. */
export interface Follower {
  /** Its reason is a `SubscribeError` when a bug of the caller ends the subscription. */
  readonly signal: AbortSignal;
  /** Never rejects. */
  setState(state: SubscriptionState, detail: StateDetail): Promise<void>;
  pause(ms: number): Promise<void>;
}

/** The internal form of `SubscriptionEnd`. */
export type RawEnd =
  | { readonly state: "ended"; readonly event: RawEvent | null }
  | { readonly state: "failed"; readonly error: SubscribeError }
  | { readonly state: "closed" };

/** Follows the stream until it ends, fails for good, or the follower's signal aborts. Never rejects. */
export async function followOverReconnects(settings: SubscribeSettings, follower: Follower): Promise<RawEnd> {
  let failureCount = 0;
  let openCount = 0;
  let wasLive = false;
  let openedAtMs = Infinity;
  let wasRefused = false;
  let serverRetryMs = 0;
  let earlierRefetch: Promise<void> = Promise.resolve();
  const report = (state: SubscriptionState, error: SubscribeError | null = null, retryInMs = 0) => {
    if (follower.signal.aborted) return;
    // Not waited for: a slow display must not hold up the events.
    void follower.setState(state, { error, retryInMs, openCount });
  };

  report("connecting");
  while (!follower.signal.aborted) {
    openedAtMs = Infinity;
    const outcome = await runAttempt(settings, {
      wasRefused,
      earlierRefetch,
      signal: follower.signal,
      onOpen() {
        openCount += 1;
        openedAtMs = performance.now();
        wasRefused = false;
      },
      onLive() {
        wasLive = true;
        report("live");
      },
      onRetry(retryMs) {
        serverRetryMs = retryMs;
      },
      onRefetch(refetch) {
        earlierRefetch = refetch;
      },
    });
    if (follower.signal.aborted) break;
    if (!(outcome instanceof SubscribeError)) {
      report("ended");
      return { state: "ended", event: outcome };
    }
    const error = outcome;
    if (error.status === 401 && settings.getAccessToken !== null && !wasRefused) {
      wasRefused = true;
      report("reconnecting", error);
      continue;
    }
    // Where a stream was once open, an answer of another kind is a proxy's, and temporary; so is one of an older server.
    const wasRight = error.code === "not_a_stream" ? openCount > 0 : error.code === "no_snapshot" && wasLive;
    if (isFinal(error) && !wasRight) {
      report("failed", error);
      return { state: "failed", error };
    }
    if (performance.now() - openedAtMs >= settings.goodStreamMs) failureCount = 0;
    const retryInMs = toPauseMs(settings, failureCount, Math.max(serverRetryMs, error.retryAfterMs ?? 0));
    failureCount += 1;
    report("reconnecting", error, retryInMs);
    await follower.pause(retryInMs);
    report("reconnecting", error);
  }
  return { state: "closed" };
}

/** The server's delay plus a random part whose bound doubles with each failure (full jitter). */
function toPauseMs(settings: SubscribeSettings, failureCount: number, floorMs: number): number {
  const [shortestMs, longestMs] = settings.backoffMs;
  return floorMs + settings.random() * Math.min(longestMs, shortestMs * 2 ** failureCount);
}
