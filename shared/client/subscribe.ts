import { pause } from "../abortable.ts";
import { runAttempt } from "./subscribe_attempt.ts";
import { isFinal, SubscribeError } from "./subscribe_error.ts";
import {
  parseOptions,
  type StateDetail,
  type StreamEvent,
  type SubscribeOptions,
  type SubscribeSettings,
  type SubscriptionState,
} from "./subscribe_options.ts";

export { SubscribeError, type SubscribeErrorCode } from "./subscribe_error.ts";
export type {
  StateDetail,
  StreamEvent,
  SubscribeOptions,
  SubscriptionState,
  TokenRequest,
} from "./subscribe_options.ts";

export type SubscriptionEnd<Events extends object> =
  /** `event` is the terminal event, or null when the resource had ended before the stream could open. */
  | { readonly state: "ended"; readonly event: StreamEvent<Events> | null }
  | { readonly state: "failed"; readonly error: SubscribeError }
  /** By `close()` or the signal. */
  | { readonly state: "closed" };

export interface Subscription<Events extends object> {
  readonly state: SubscriptionState | "closed";
  /** Resolves when it is over, whatever the reason; never rejects. */
  readonly finished: Promise<SubscriptionEnd<Events>>;
  close(): void;
  /** Cuts a pause short, for example when the browser is online again. */
  retryNow(): void;
}

/**
 * Follows an event stream until its terminal event, over reconnects. Servers of this kind replay nothing: what keeps
 * the caller's picture complete is `refetch`, which runs on every open, before the events that came after it.
 *
 * Runs on anything with `fetch` and web streams. Throws `TypeError` or `RangeError` for wrong options; whatever happens
 * later is reported by `onStateChange` and `finished`.
 *
 * In a browser, with short-lived stream tokens:
 *
 *     const subscription = subscribe<ScanEvents>(`/api/v1/scans/${id}/event-stream`, {
 *       getAccessToken: () => fetchStreamToken(id),
 *       refetch: async (signal) => show(await fetchScan(id, signal)),
 *       onEvent: (event) => {
 *         if (event.type === "finding.created") add(event.data);
 *       },
 *       onStateChange: (state, { error }) => showConnection(state, error?.message),
 *     });
 *     addEventListener("online", () => subscription.retryNow());
 *
 * In Node or Deno, with an API key:
 *
 *     const subscription = subscribe<ScanEvents>(`${gatewayUrl}/api/v1/scans/${id}/event-stream`, {
 *       apiKey,
 *       onEvent: ({ type, data }) => console.log(type, data),
 *     });
 *     const end = await subscription.finished;
 *     if (end.state === "failed") throw end.error;
 */
export function subscribe<Events extends object>(
  url: string | URL,
  options: SubscribeOptions<Events> = {},
): Subscription<Events> {
  const settings = parseOptions(url, options);
  const closing = new AbortController();
  const close = () => closing.abort();
  let state: SubscriptionState | "closed" = "connecting";
  let waking = new AbortController();
  if (options.signal?.aborted === true) close();
  else options.signal?.addEventListener("abort", close, { once: true });

  const follower: Follower = {
    signal: closing.signal,
    async setState(next, detail) {
      state = next;
      try {
        await settings.onStateChange(next, detail);
      } catch (cause) {
        closing.abort(new SubscribeError("callback_failed", "onStateChange failed", { cause }));
      }
    },
    async pause(ms) {
      waking = new AbortController();
      await pause(ms, [closing.signal, waking.signal]);
    },
  };
  const finished = follow(settings, follower).then((end) => {
    state = end.state;
    options.signal?.removeEventListener("abort", close);
    // The same assertion about types as in `parseOptions`, in the other direction.
    return end as SubscriptionEnd<Events>;
  });
  return {
    get state() {
      return state;
    },
    finished,
    close,
    retryNow: () => waking.abort(),
  };
}

interface Follower {
  /** Its reason is a `SubscribeError` when a bug of the caller ends the subscription. */
  readonly signal: AbortSignal;
  /** Never rejects. */
  setState(state: SubscriptionState, detail: StateDetail): Promise<void>;
  pause(ms: number): Promise<void>;
}

type End = SubscriptionEnd<Record<string, object>>;

async function follow(settings: SubscribeSettings, follower: Follower): Promise<End> {
  // The caller first gets its subscription, then the first callback.
  await Promise.resolve();
  const end = await followOverReconnects(settings, follower);
  const reason: unknown = follower.signal.reason;
  return reason instanceof SubscribeError ? { state: "failed", error: reason } : end;
}

async function followOverReconnects(settings: SubscribeSettings, follower: Follower): Promise<End> {
  let failureCount = 0;
  let openCount = 0;
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
      onLive: () => report("live"),
      onRetry(retryMs) {
        serverRetryMs = retryMs;
      },
      onRefetch(refetch) {
        earlierRefetch = refetch;
      },
    });
    if (follower.signal.aborted) break;
    if (outcome.kind === "ended") {
      report("ended");
      return { state: "ended", event: outcome.event };
    }
    const { error } = outcome;
    if (error.status === 401 && settings.getAccessToken !== null && !wasRefused) {
      wasRefused = true;
      report("reconnecting", error);
      continue;
    }
    // Where a stream was once open, an answer of another kind is a proxy's, and temporary.
    if (isFinal(error) && !(error.code === "not_a_stream" && openCount > 0)) {
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
