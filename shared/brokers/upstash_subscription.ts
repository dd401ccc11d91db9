import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { AppError } from "../app_error.ts";
import type { LostReason } from "../broker.ts";
import { readRefusalText } from "../http_refusal.ts";
import { isTooLong, maxMessageBytes, pingMessage } from "./message.ts";
import type { ChannelListener, ChannelSource } from "./subscriptions.ts";
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
 * Opens one event stream and reads it until it is closed or lost. Its end, a broken connection, silence and unreadable
 * bytes are each detected, because a subscriber that misses the end would wait indefinitely. `subscribe` of `@upstash/redis`
 * 1.39.0 tells none of them: its reader stops without an event at the end, and writes to `console.error` when it is cut.
 */
export function openUpstashSubscription(
  { key, request, toFailure, ping, timeoutMs, idleMs, graceMs }: UpstashSubscriptionOptions,
  listener: ChannelListener,
): ChannelSource {
  const controller = new AbortController();
  const confirmation = Promise.withResolvers<void>();
  const deadline = setTimeout(() => finish("silent", undefined), timeoutMs);
  let state: "opening" | "open" | "finished" = "opening";
  let watchdog: Watchdog | null = null;
  // Never rejects: `finish` handles every end of it.
  void run();
  return {
    confirmed: confirmation.promise,
    close() {
      release();
      // Without effect once it was confirmed.
      confirmation.reject(toFailure(undefined));
    },
  };

  async function run(): Promise<void> {
    try {
      const response = await request(controller.signal);
      if (!isEventStream(response)) throw new Error(`HTTP ${response.status}: ${await readRefusalText(response)}`);
      const reason = await read(response.body);
      finish(
        reason,
        new Error(`the stream was ${reason === "ended" ? "ended" : "unreadable"} before it was confirmed`),
      );
    } catch (error) {
      finish("cut", error);
    }
  }

  async function read(body: ReadableStream<Uint8Array>): Promise<LostReason> {
    const feed = createFeed(onEvent);
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return "ended";
      watchdog?.reset();
      if (!feed(value)) return "garbage";
    }
  }

  /** False for an event that cannot be read. */
  function onEvent(event: EventSourceMessage): boolean {
    if (state === "opening") {
      if (!event.data.startsWith(`subscribe,${key},`)) return false;
      open();
      return true;
    }
    try {
      const message = toMessage(event, key);
      if (message !== null) listener.onMessage(message);
      return true;
    } catch {
      return false;
    }
  }

  function open(): void {
    state = "open";
    clearTimeout(deadline);
    watchdog = startWatchdog({
      idleMs,
      graceMs,
      onIdle: ping,
      onSilent: () => finish("silent", undefined),
    });
    confirmation.resolve();
  }

  function finish(reason: LostReason, cause: unknown): void {
    if (state === "finished") return;
    const wasOpen = state === "open";
    release();
    if (wasOpen) listener.onLost(reason);
    else confirmation.reject(toFailure(cause));
  }

  /** Idempotent. Aborting the request is what ends the subscription at the broker. */
  function release(): void {
    if (state === "finished") return;
    state = "finished";
    clearTimeout(deadline);
    watchdog?.stop();
    controller.abort();
  }
}

/** Takes chunks of bytes; false as soon as something in them cannot be read. */
function createFeed(onEvent: (event: EventSourceMessage) => boolean): (chunk: Uint8Array) => boolean {
  // The parser drops the byte order mark; if the decoder did too, a second one would go unseen.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let isReadable = true;
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onEvent: (event) => {
      if (isReadable) isReadable = onEvent(event);
    },
    // An unknown field is the second line of a message that had a line break: part of it is lost.
    onError: () => {
      isReadable = false;
    },
  });
  return (chunk) => {
    try {
      parser.feed(decoder.decode(chunk, { stream: true }));
      return isReadable;
    } catch {
      return false;
    }
  };
}

function isEventStream(response: Response): response is Response & { readonly body: ReadableStream<Uint8Array> } {
  const contentType = response.headers.get("content-type") ?? "";
  return response.status === 200 && response.body !== null && /^text\/event-stream\s*(;|$)/i.test(contentType);
}

/** `message,<channel>,<text>`; null for what carries no text of a publisher. */
function toMessage({ data }: EventSourceMessage, key: string): string | null {
  const prefix = `message,${key},`;
  if (!data.startsWith(prefix)) throw new TypeError("Cannot read a frame of the subscription: expected a message");
  const message = data.slice(prefix.length);
  if (isTooLong(message)) throw new RangeError("Cannot read a message: it is over the bound");
  return message === pingMessage ? null : message;
}
