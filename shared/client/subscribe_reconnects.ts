import type { PageLife } from "./page_wake.ts";
import { runAttempt, type Progress } from "./subscribe_attempt.ts";
import { isFinal, SubscribeError } from "./subscribe_error.ts";
import type { RawEvent, StateDetail, SubscribeSettings, SubscriptionState } from "./subscribe_options.ts";

/** The subscription that the reconnects are of. */
export interface Follower {
  /** Its reason is a `SubscribeError` when a bug of the caller ends the subscription. */
  readonly signal: AbortSignal;
  readonly page: PageLife;
  /** Not waited for: a slow display must not hold up the events. Never rejects. */
  setState(state: SubscriptionState, detail: StateDetail): Promise<void>;
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
  const { signal, page } = follower;
  const progress: Progress = {
    openCount: 0,
    openedAtMs: Infinity,
    wasLive: false,
    wasRefused: false,
    serverRetryMs: 0,
    refetching: Promise.resolve(),
  };
  let failureCount = 0;
  let reopenedAtMs = -Infinity;
  const report = (state: SubscriptionState, error: SubscribeError | null = null, retryInMs = 0) => {
    if (!signal.aborted) void follower.setState(state, { error, retryInMs, openCount: progress.openCount });
  };

  report("connecting");
  while (!signal.aborted) {
    await page.awake();
    progress.openedAtMs = Infinity;
    const outcome = await runAttempt({ settings, signal, page, progress, onLive: () => report("live") });
    if (signal.aborted) break;
    if (!(outcome instanceof SubscribeError)) {
      report("ended");
      return { state: "ended", event: outcome };
    }
    const error = outcome;
    if (error.status === 401 && settings.getAccessToken !== undefined && !progress.wasRefused) {
      progress.wasRefused = true;
      report("reconnecting", error);
      continue;
    }
    // After an open stream, an answer of another kind comes from a proxy and is temporary; so is one of an older server.
    const wasRight =
      error.code === "not_a_stream" ? progress.openCount > 0 : error.code === "no_snapshot" && progress.wasLive;
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
    if (performance.now() - progress.openedAtMs >= settings.goodStreamMs) failureCount = 0;
    const retryInMs = toPauseMs(settings, failureCount, Math.max(progress.serverRetryMs, error.retryAfterMs ?? 0));
    failureCount += 1;
    report("reconnecting", error, retryInMs);
    await page.pause(retryInMs, error.retryAfterMs !== null);
    report("reconnecting", error);
  }
  return { state: "closed" };
}

/** The server's delay plus a random part whose bound doubles with each failure (full jitter). */
function toPauseMs(settings: SubscribeSettings, failureCount: number, floorMs: number): number {
  const [shortestMs, longestMs] = settings.backoffMs;
  return floorMs + settings.random() * Math.min(longestMs, shortestMs * 2 ** failureCount);
}
