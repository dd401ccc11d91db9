import { createParser } from "eventsource-parser";
import type { AppError } from "../app_error.ts";
import type { LostReason, SubscriptionHandlers } from "../broker.ts";
import { readRefusalText } from "../http_refusal.ts";
import { isTooLong, maxMessageBytes, pingMessage } from "./message.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

export interface UpstashSubscriptionOptions {
  /** The channel at the broker. */
  readonly key: string;
  readonly request: (signal: AbortSignal) => Promise<Response>;
  /** The meaning of a request that was refused or failed, ended early, or did not answer in time (`cause` is undefined then). */
  readonly toFailure: (cause: unknown) => AppError;
  /** Publishes `pingMessage` on the channel: nothing arrived for `idleMs`. */
  readonly ping: () => void;
  /** Bound on request and confirmation together. */
  readonly timeoutMs: number;
  readonly idleMs: number;
  readonly graceMs: number;
}

/** Room for the field name and the channel around the longest message. */
const maxEventChars = maxMessageBytes + 4096;

/**
 * Opens one event stream and reads it until the signal aborts or it is lost; resolves when it is confirmed. Its end, a broken
 * connection, silence and unreadable bytes are each detected, because a subscriber that misses the end would wait indefinitely.
 * `subscribe` of `@upstash/redis` 1.39.0 tells none of them: its reader stops without an event at the end, and writes to
 * `console.error` when it is cut.
 */
export function openUpstashSubscription(
  { key, request, toFailure, ping, timeoutMs, idleMs, graceMs }: UpstashSubscriptionOptions,
  handlers: SubscriptionHandlers,
  signal: AbortSignal,
): Promise<void> {
  const own = new AbortController();
  const confirmation = Promise.withResolvers<void>();
  const deadline = setTimeout(() => finish("silent"), timeoutMs);
  /** Null until it is confirmed. */
  let watchdog: Watchdog | null = null;
  signal.addEventListener("abort", () => release(), { once: true });
  // Never rejects: `finish` handles every end of it.
  void run();
  return confirmation.promise;

  async function run(): Promise<void> {
    try {
      const response = await request(own.signal);
      if (!isEventStream(response)) throw new Error(`HTTP ${response.status}: ${await readRefusalText(response)}`);
      const reason = await read(response.body);
      const what = reason === "ended" ? "ended" : "unreadable";
      finish(reason, new Error(`the stream was ${what} before it was confirmed`));
    } catch (error) {
      finish("cut", error);
    }
  }

  async function read(body: ReadableStream<Uint8Array>): Promise<LostReason> {
    // The parser drops the byte order mark; if the decoder did too, a second one would go unseen.
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    let isReadable = true;
    const parser = createParser({
      maxBufferSize: maxEventChars,
      onEvent({ data }) {
        if (isReadable) isReadable = receive(data);
      },
      // An unknown field is the second line of a message that had a line break: part of it is lost.
      onError() {
        isReadable = false;
      },
    });
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return "ended";
      watchdog?.reset();
      try {
        parser.feed(decoder.decode(value, { stream: true }));
      } catch {
        return "garbage";
      }
      if (!isReadable) return "garbage";
    }
  }

  /** Takes `subscribe,<channel>,<count>`, then `message,<channel>,<text>`. False for anything else, and for what is over the bound. */
  function receive(data: string): boolean {
    const prefix = `${watchdog === null ? "subscribe" : "message"},${key},`;
    if (!data.startsWith(prefix)) return false;
    if (watchdog === null) {
      clearTimeout(deadline);
      watchdog = startWatchdog({ idleMs, graceMs, onIdle: ping, onSilent: () => finish("silent") });
      confirmation.resolve();
      return true;
    }
    const message = data.slice(prefix.length);
    if (isTooLong(message)) return false;
    if (message !== pingMessage) handlers.onMessage(message);
    return true;
  }

  /** `cause` is undefined where the stream has gone silent. */
  function finish(reason: LostReason, cause?: unknown): void {
    if (own.signal.aborted) return;
    const wasOpen = watchdog !== null;
    release(cause);
    if (wasOpen) handlers.onLost(reason);
  }

  /** Idempotent. Aborting the request is what ends the subscription at the broker. */
  function release(cause?: unknown): void {
    clearTimeout(deadline);
    watchdog?.stop();
    own.abort();
    // Without effect once it was confirmed.
    confirmation.reject(toFailure(cause));
  }
}

function isEventStream(response: Response): response is Response & { readonly body: ReadableStream<Uint8Array> } {
  const contentType = response.headers.get("content-type") ?? "";
  return response.status === 200 && response.body !== null && /^text\/event-stream\s*(;|$)/i.test(contentType);
}
