import { watchPage } from "./page_wake.ts";
import { SubscribeError } from "./subscribe_error.ts";
import {
  parseOptions,
  type StreamEvent,
  type SubscribeOptions,
  type SubscribeSettings,
  type SubscriptionState,
} from "./subscribe_options.ts";
import { followOverReconnects, type Follower, type RawEnd } from "./subscribe_reconnects.ts";

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
  /** Cuts a pause short, for example when the browser is online again. */
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
  const { signal } = closing;
  const close = () => closing.abort();
  let state: SubscriptionState | "closed" = "connecting";
  if (options.signal?.aborted === true) close();
  else options.signal?.addEventListener("abort", close, { once: true, signal });

  const page = watchPage(signal);
  const follower: Follower = {
    signal,
    page,
    async setState(next, detail) {
      state = next;
      try {
        await settings.onStateChange(next, detail);
      } catch (cause) {
        closing.abort(new SubscribeError("callback_failed", "onStateChange failed", { cause }));
      }
    },
  };
  const finished = run(settings, follower).then((end) => {
    close();
    state = end.state;
    // The same assertion about types as in `parseOptions`, in the other direction.
    return end as SubscriptionEnd<Events>;
  });
  return {
    get state() {
      return state;
    },
    finished,
    close,
    retryNow: page.retryNow,
  };
}

async function run(settings: SubscribeSettings, follower: Follower): Promise<RawEnd> {
  // The caller first gets its subscription, then the first callback.
  await Promise.resolve();
  const end = await followOverReconnects(settings, follower);
  const reason: unknown = follower.signal.reason;
  return reason instanceof SubscribeError ? { state: "failed", error: reason } : end;
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
