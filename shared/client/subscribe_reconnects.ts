import { runAttempt } from "./subscribe_attempt.ts";
import { isFinal, SubscribeError } from "./subscribe_error.ts";
import type { RawEvent, StateDetail, SubscribeSettings, SubscriptionState } from "./subscribe_options.ts";

/** The side of a subscription that the reconnects see. */
export interface Follower {
  /** Its reason is a `SubscribeError` when a bug of the caller ends the subscription. */
  readonly signal: AbortSignal;
  /** Never rejects. */
  setState(state: SubscriptionState, detail: StateDetail): Promise<void>;
  /** A page that wakes up cuts the pause short, unless the server asked for it. */
  pause(ms: number, isAsked: boolean): Promise<void>;
  /** Resolves at once, unless the page is about to sleep. */
  awake(): Promise<void>;
  onProbe(probe: (isCertain: boolean) => void): void;
}

/** The internal form of `SubscriptionEnd`. */
export type RawEnd =
  | { readonly state: "ended"; readonly event: RawEvent | null }
  | { readonly state: "failed"; readonly error: SubscribeError }
  | { readonly state: "closed" };

/** Streams that are lost faster than this are opened again after a pause, regardless of the reason. */
const minReopenMs = 1000;

/** Follows the stream until it ends, fails for good, or the follower's signal aborts. Never rejects. */
export async function followOverReconnects(settings: SubscribeSettings, follower: Follower): Promise<RawEnd> {
  let failureCount = 0;
  let openCount = 0;
  let wasLive = false;
  let openedAtMs = Infinity;
  let wasRefused = false;
  let serverRetryMs = 0;
  let earlierRefetch: Promise<void> = Promise.resolve();
  let reopenedAtMs = -Infinity;
  const report = (state: SubscriptionState, error: SubscribeError | null = null, retryInMs = 0) => {
    if (follower.signal.aborted) return;
    // Not waited for: a slow display must not hold up the events.
    void follower.setState(state, { error, retryInMs, openCount });
  };

  report("connecting");
  while (!follower.signal.aborted) {
    await follower.awake();
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
      onProbe: (probe) => follower.onProbe(probe),
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
    // After an open stream, an answer of another kind comes from a proxy and is temporary; so is one of an older server.
    const wasRight = error.code === "not_a_stream" ? openCount > 0 : error.code === "no_snapshot" && wasLive;
    if (isFinal(error) && !wasRight) {
      report("failed", error);
      return { state: "failed", error };
    }
    // Nothing is wrong with the server when the page woke up.
    const isOwnDoing = error.code === "silent" && error.detail !== null;
    if (isOwnDoing && performance.now() - reopenedAtMs > minReopenMs) {
      reopenedAtMs = performance.now();
      report("reconnecting", error);
      continue;
    }
    if (performance.now() - openedAtMs >= settings.goodStreamMs) failureCount = 0;
    const retryInMs = toPauseMs(settings, failureCount, Math.max(serverRetryMs, error.retryAfterMs ?? 0));
    failureCount += 1;
    report("reconnecting", error, retryInMs);
    await follower.pause(retryInMs, error.retryAfterMs !== null);
    report("reconnecting", error);
  }
  return { state: "closed" };
}

/** The server's delay plus a random part whose bound doubles with each failure (full jitter). */
function toPauseMs(settings: SubscribeSettings, failureCount: number, floorMs: number): number {
  const [shortestMs, longestMs] = settings.backoffMs;
  return floorMs + settings.random() * Math.min(longestMs, shortestMs * 2 ** failureCount);
}
