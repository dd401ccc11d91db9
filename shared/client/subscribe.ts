import { pause } from "../abortable.ts";
import { createProgress, runAttempt } from "./subscribe_attempt.ts";
import { isFinal, SubscribeError } from "./subscribe_error.ts";
import { parseOptions, type StreamEvent, type SubscribeOptions, type SubscriptionState } from "./subscribe_options.ts";

export { SubscribeError, type SubscribeErrorCode } from "./subscribe_error.ts";
export type {
  SnapshotEvent,
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
  /** Ended by `close()` or the signal. */
  | { readonly state: "closed" };

export interface Subscription<Events extends object> {
  readonly state: SubscriptionState | "closed";
  /** Resolves when it is over, regardless of the reason; never rejects. */
  readonly finished: Promise<SubscriptionEnd<Events>>;
  close(): void;
  /** Cuts a pause short. A page that is online again does so itself, unless the server asked for the pause. */
  retryNow(): void;
}

/**
 * Follows an event stream until its terminal event, over reconnects. Servers of this kind replay nothing: what keeps
 * the caller's picture complete is the present state, read on every open and handed over before the events that came
 * after it. `onSnapshot` gets it from the stream itself; `refetch` reads it where the stream has none.
 *
 * Runs on anything with `fetch` and web streams. Throws `TypeError` or `RangeError` for wrong options; anything that happens
 * later is reported by `onStateChange` and `finished`.
 *
 * In a browser, with short-lived stream tokens:
 *
 *     const subscription = subscribe<ScanEvents>(`/api/v1/scans/${id}/event-stream`, {
 *       getAccessToken: () => fetchStreamToken(id),
 *       onSnapshot: ([{ data: scan }]) => show(scan),
 *       onEvent: (event) => {
 *         if (event.type === "finding.created") add(event.data);
 *       },
 *       onStateChange: (state, { error }) => showConnection(state, error?.message),
 *     });
 *
 * In Node or Deno, with `apiKey` in the place of `getAccessToken`.
 */
export function subscribe<Events extends object>(
  url: string | URL,
  options: SubscribeOptions<Events> = {},
): Subscription<Events> {
  const settings = parseOptions(url, options);
  const closing = new AbortController();
  const { signal } = closing;
  const close = () => closing.abort();
  if (options.signal?.aborted === true) close();
  else options.signal?.addEventListener("abort", close, { once: true, signal });
  let retrying = new AbortController();
  /** While a pause runs that the server did not ask for. */
  let mayWake = false;
  if ("document" in globalThis) {
    const wake = () => mayWake && retrying.abort();
    for (const type of ["online", "pageshow"]) addEventListener(type, wake, { signal });
  }
  const progress = createProgress();
  let state: SubscriptionState | "closed" = "connecting";
  const finished = run().then((end) => {
    close();
    state = end.state;
    return end;
  });
  return {
    get state() {
      return state;
    },
    finished,
    close,
    retryNow: () => retrying.abort(),
  };

  /** Not waited for: a slow display must not hold up the events. Its error is a bug of the caller, and ends the subscription. */
  async function report(next: SubscriptionState, error: SubscribeError | null = null, retryInMs = 0): Promise<void> {
    if (signal.aborted) return;
    state = next;
    try {
      await settings.onStateChange(next, { error, retryInMs });
    } catch (cause) {
      closing.abort(new SubscribeError("callback_failed", "onStateChange failed", { cause }));
    }
  }

  /** Never rejects. */
  async function run(): Promise<SubscriptionEnd<Events>> {
    // The caller first gets its subscription, then the first callback.
    await Promise.resolve();
    const end = await followOverReconnects();
    const reason: unknown = signal.reason;
    return reason instanceof SubscribeError ? { state: "failed", error: reason } : end;
  }

  /** Follows the stream until it ends, fails for good, or is closed. */
  async function followOverReconnects(): Promise<SubscriptionEnd<Events>> {
    let failureCount = 0;
    void report("connecting");
    while (!signal.aborted) {
      progress.openedAtMs = Infinity;
      const outcome = await runAttempt({ settings, signal, progress, onLive: () => void report("live") });
      if (signal.aborted) break;
      if (!(outcome instanceof SubscribeError)) {
        void report("ended");
        // The same assertion about types as in `parseOptions`, in the other direction.
        return { state: "ended", event: outcome as StreamEvent<Events> | null };
      }
      if (outcome.status === 401 && settings.getAccessToken !== undefined && !progress.wasRefused) {
        progress.wasRefused = true;
        void report("reconnecting", outcome);
        continue;
      }
      if (isFinal(outcome, progress)) {
        void report("failed", outcome);
        return { state: "failed", error: outcome };
      }
      if (performance.now() - progress.openedAtMs >= settings.goodStreamMs) failureCount = 0;
      const askedMs = Math.max(progress.serverRetryMs, outcome.retryAfterMs ?? 0);
      const [shortestMs, longestMs] = settings.backoffMs;
      // The server's delay plus a random part whose bound doubles with each failure (full jitter).
      const retryInMs = askedMs + settings.random() * Math.min(longestMs, shortestMs * 2 ** failureCount);
      failureCount += 1;
      void report("reconnecting", outcome, retryInMs);
      retrying = new AbortController();
      mayWake = outcome.retryAfterMs === null;
      await pause(retryInMs, [signal, retrying.signal]);
      mayWake = false;
      void report("reconnecting", outcome);
    }
    return { state: "closed" };
  }
}

/**
 * The same as an iterable of events, which are read no faster than they are asked for; `break` closes the stream. It is
 * opened when the first event is asked for. The iteration ends after the terminal event, or when the signal aborts, and
 * throws the `SubscribeError` with which the subscription fails.
 *
 *     for await (const { type, data } of follow<ScanEvents>(url, { apiKey })) console.log(type, data);
 *
 * Throws as `subscribe` does for wrong options.
 */
export function follow<Events extends object>(
  url: string | URL,
  options: Omit<SubscribeOptions<Events>, "onEvent"> = {},
): AsyncIterableIterator<StreamEvent<Events>, undefined, undefined> {
  parseOptions(url, options);
  let subscription: Subscription<Events> | null = null;
  let asked = Promise.withResolvers<void>();
  const source: UnderlyingDefaultSource<StreamEvent<Events>> = {
    pull(controller) {
      asked.resolve();
      if (subscription !== null) return;
      subscription = subscribe<Events>(url, {
        ...options,
        async onEvent(event) {
          await asked.promise;
          asked = Promise.withResolvers();
          controller.enqueue(event);
        },
      });
      void subscription.finished
        .then((end) => (end.state === "failed" ? controller.error(end.error) : controller.close()))
        // It was closed by `return()`.
        .catch(() => undefined);
    },
    cancel: () => subscription?.close(),
  };
  const reader = new ReadableStream(source, { highWaterMark: 0 }).getReader();
  return {
    // A default reader's last result is `{ done: true, value: undefined }`; its type also allows for byte streams.
    next: () => reader.read() as Promise<IteratorResult<StreamEvent<Events>, undefined>>,
    async return() {
      await reader.cancel();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
