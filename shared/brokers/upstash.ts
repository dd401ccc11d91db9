// The package's entry for Node reads environment variables, which Deno has to allow; this one is the same client on `fetch`.
import { errors, Redis } from "@upstash/redis/cloudflare";
import { createParser } from "eventsource-parser";
import type { AppError } from "../app_error.ts";
import type { Broker, LostReason, SubscriptionHandlers } from "../broker.ts";
import { eventStreamOf, readRefusalText } from "../http_refusal.ts";
import { channelKeys } from "./channel_key.ts";
import { createBroker } from "./create_broker.ts";
import { isLongerThan } from "../text.ts";
import { withTimeout } from "../with_timeout.ts";
import { maxMessageBytes, pingMessage } from "./message.ts";
import { parseCredential, parseOption, parseServiceUrl } from "./service_url.ts";
import { createSendQueue } from "./send_queue.ts";
import { brokerClosed, serverFailure } from "./unavailable.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

export interface UpstashBrokerOptions {
  /** `UPSTASH_REDIS_REST_URL`. */
  readonly url: string;
  /** `UPSTASH_REDIS_REST_TOKEN`. */
  readonly token: string;
  /** `EVENTSTREAM_CACHE_DB`. */
  readonly database: number;
  /** Bound on one request, and on the confirmation of one subscription. Default 5,000. */
  readonly timeoutMs?: number;
  /** A subscription that was idle for this long is pinged. Default 20,000. */
  readonly idleMs?: number;
  /** How long the ping may take to arrive. Default 10,000. */
  readonly graceMs?: number;
}

/**
 * Upstash Redis over REST (https://upstash.com/docs/redis/features/restapi): what is published together is one pipeline of
 * `@upstash/redis`, and each channel is one streaming response, which `openSubscription` reads.
 *
 * On Workers create one broker for each request or Durable Object: what is published together travels in one request,
 * and a Worker may not do another request's I/O.
 *
 * A publish that timed out may still have been taken; one that was refused or could not connect was not.
 */
export function createUpstashBroker(options: UpstashBrokerOptions): Broker {
  const { database, timeoutMs = 5000, idleMs = 20_000, graceMs = 10_000 } = options;
  const toKey = channelKeys(database);
  const url = parseOption("url (UPSTASH_REDIS_REST_URL)", options.url, parseServiceUrl);
  const token = parseOption("token (UPSTASH_REDIS_REST_TOKEN)", options.token, parseCredential);
  const closing = new AbortController();
  const redis = new Redis({
    url,
    token,
    // One request for each pipeline: a publish whose answer was lost may have been taken.
    retry: { retries: 0 },
    // A function, because an aborted request resolves with null where a signal was given.
    signal: () => AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]),
    // Off, because its requests overtake each other.
    enableAutoPipelining: false,
    automaticDeserialization: false,
    responseEncoding: false,
    readYourWrites: false,
    enableTelemetry: false,
  });
  const queue = createSendQueue(async (entries) => {
    const pipeline = redis.pipeline();
    for (const { channel, message } of entries) pipeline.publish(toKey(channel), message);
    const replies = await pipeline.exec<unknown[]>({ keepErrors: true }).catch((error: unknown) => {
      throw toFailure("publish", error);
    });
    for (const [index, { resolve, reject }] of entries.entries()) {
      const { error = "The reply is not a number", result } = replies[index] ?? {};
      if (typeof result === "number") resolve();
      else reject(toFailure("publish", new errors.UpstashError(error)));
    }
  });

  return createBroker({
    publish: (channel, message) => queue.push(channel, message),
    openChannel: (channel, handlers, signal) => openSubscription(toKey(channel), handlers, signal),
    close: () => closing.abort(),
  });

  /**
   * Opens one event stream and reads it until the signal aborts or it is lost; resolves when it is confirmed. Its end, a broken
   * connection, silence and unreadable bytes are each detected, because a subscriber that misses the end would wait indefinitely.
   * `subscribe` of `@upstash/redis` 1.39.0 tells of neither: its reader stops without an event at the end, and writes to
   * `console.error` when it is cut.
   */
  async function openSubscription(key: string, handlers: SubscriptionHandlers, signal: AbortSignal): Promise<void> {
    const confirmation = Promise.withResolvers<void>();
    /** Null until it is confirmed. */
    let watchdog: Watchdog | null = null;
    signal.addEventListener("abort", () => watchdog?.stop());
    // Never rejects: `finish` handles every end of it.
    void run();
    return withTimeout(confirmation.promise, timeoutMs).catch((error: unknown) => {
      throw toFailure("subscribe", error);
    });

    /** Upstash promises no separate keep-alive. Every subscriber of the channel receives this one. */
    function onIdle(): void {
      void redis.publish(key, pingMessage).catch(() => undefined);
    }

    async function run(): Promise<void> {
      try {
        const response = await fetch(`${url}/subscribe/${encodeURIComponent(key)}`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, accept: "text/event-stream", "cache-control": "no-cache" },
          // A redirect is a wrong URL; followed, it would carry the token elsewhere.
          redirect: "manual",
          // Aborting the request is what ends the subscription at the broker.
          signal,
        });
        const body = eventStreamOf(response);
        if (body === null) throw new Error(`HTTP ${response.status}: ${await readRefusalText(response)}`);
        const reason = await read(body);
        const what = reason === "ended" ? "ended" : "unreadable";
        finish(reason, new Error(`the stream was ${what} before it was confirmed`));
      } catch (error) {
        finish("cut", error);
      }
    }

    async function read(body: ReadableStream<Uint8Array>): Promise<LostReason> {
      // The parser drops the byte order mark; if the decoder did too, a second one would go unseen.
      const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
      const parser = createParser({
        maxBufferSize: maxEventChars,
        onEvent: ({ data }) => receive(data),
        // An unknown field is the second line of a message that had a line break: part of it is lost.
        onError(error) {
          throw error;
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
      }
    }

    /** Takes `subscribe,<channel>,<count>`, then `message,<channel>,<text>`. Throws for anything else, and for what is over the bound. */
    function receive(data: string): void {
      const prefix = `${watchdog === null ? "subscribe" : "message"},${key},`;
      const message = data.slice(prefix.length);
      if (!data.startsWith(prefix) || isLongerThan(message, maxMessageBytes)) throw new Error("Cannot read a message");
      if (watchdog === null) {
        watchdog = startWatchdog({ idleMs, graceMs, onIdle, onSilent: () => finish("silent") });
        confirmation.resolve();
      } else if (message !== pingMessage) handlers.onMessage(message);
    }

    /** Without effect when it is over; `cause` counts until it is confirmed. */
    function finish(reason: LostReason, cause?: unknown): void {
      confirmation.reject(cause);
      handlers.onLost(reason);
    }
  }

  function toFailure(action: string, error: unknown): AppError {
    if (closing.signal.aborted) return brokerClosed(action);
    return serverFailure(action, withoutPayload(error), { server: "Upstash", timeoutMs, secrets: [token], refusals });
  }
}

const refusals = [
  [/WRONGPASS|unauthorized|HTTP 40[13]\b/i, "refused the token (UPSTASH_REDIS_REST_TOKEN)"],
  [/NOPERM/, "says that the token (UPSTASH_REDIS_REST_TOKEN) may not do that"],
] as const;

/**
 * Returns what may be logged. The package ends a refusal with the command and quotes an answer that is not JSON, and Redis quotes
 * arguments: each may hold the payload.
 */
function withoutPayload(error: unknown): unknown {
  if (error instanceof errors.UpstashJSONParseError) return new Error("The answer is not JSON");
  if (!(error instanceof errors.UpstashError)) return error;
  return new Error(error.message.split(/, command was: |['"`{[]/, 1)[0]);
}

/** Room for the field name and the channel around the longest message. */
const maxEventChars = maxMessageBytes + 4096;
