import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { AppError } from "../app_error.ts";
import type { LostReason } from "../broker.ts";
import { maxMessageBytes } from "./message.ts";
import type { ChannelListener, ChannelSource } from "./subscriptions.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

/** How one broker's subscription is read from a server-sent-events response. */
export interface EventStreamSource {
  request(signal: AbortSignal): Promise<Response>;
  /** Why a response that is no event stream refuses the subscription. */
  toRefusal(response: Response): Promise<AppError>;
  /** What it means that the request failed, ended early, or did not answer in time (`cause` is undefined then). */
  toFailure(cause: unknown): AppError;
  /** Whether this event confirms the subscription. */
  isConfirmation(event: EventSourceMessage): boolean;
  /** The message of an event; null when it has none; throws when the event cannot be read. */
  toMessage(event: EventSourceMessage): string | null;
  /** Nothing arrived for `idleMs`: the moment to send a ping. */
  onIdle(): void;
  /** Bound on request and confirmation together. */
  readonly timeoutMs: number;
  readonly idleMs: number;
  readonly graceMs: number;
}

/** Room for the field name and the channel around the longest message. */
const maxEventChars = maxMessageBytes + 4096;

/**
 * Opens one event stream and reads it until it is closed or lost. Its end, a broken connection, silence and unreadable
 * bytes are each detected, because a subscriber that misses the end would wait indefinitely.
 */
export function openEventStreamSource(source: EventStreamSource, listener: ChannelListener): ChannelSource {
  const controller = new AbortController();
  const confirmation = Promise.withResolvers<void>();
  const deadline = setTimeout(() => finish("silent", undefined), source.timeoutMs);
  let state: "opening" | "open" | "finished" = "opening";
  let watchdog: Watchdog | null = null;
  // Never rejects: `finish` handles every end of it.
  void run();
  return {
    confirmed: confirmation.promise,
    close() {
      release();
      // Without effect once it was confirmed.
      confirmation.reject(source.toFailure(undefined));
    },
  };

  async function run(): Promise<void> {
    try {
      const response = await source.request(controller.signal);
      if (!isEventStream(response)) {
        refuse(await source.toRefusal(response));
        return;
      }
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
      if (!source.isConfirmation(event)) return false;
      open();
      return true;
    }
    try {
      const message = source.toMessage(event);
      if (message !== null) listener.onMessage(message);
      return true;
    } catch {
      return false;
    }
  }

  function open(): void {
    if (state !== "opening") return;
    state = "open";
    clearTimeout(deadline);
    watchdog = startWatchdog({
      idleMs: source.idleMs,
      graceMs: source.graceMs,
      onIdle: () => source.onIdle(),
      onSilent: () => finish("silent", undefined),
    });
    confirmation.resolve();
  }

  function refuse(error: AppError): void {
    release();
    confirmation.reject(error);
  }

  function finish(reason: LostReason, cause: unknown): void {
    if (state === "finished") return;
    if (state === "opening") {
      refuse(source.toFailure(cause));
      return;
    }
    release();
    listener.onLost(reason);
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
