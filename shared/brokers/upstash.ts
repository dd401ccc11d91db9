import { readRefusal } from "../read_bounded.ts";
import { Redis } from "@upstash/redis/cloudflare";
import type { EventSourceMessage } from "eventsource-parser";
import type { AppError } from "../app_error.ts";
import type { Broker } from "../broker.ts";
import { requireDatabase, toChannelKey } from "./channel_key.ts";
import { openEventStreamSource } from "./event_stream_source.ts";
import { isTooLong, pingMessage, requireMessage } from "./message.ts";
import { parseServiceUrl } from "./service_url.ts";
import { createSendQueue } from "./send_queue.ts";
import { createSharedSubscriptions } from "./shared_subscriptions.ts";
import { brokerClosed, unavailable } from "./unavailable.ts";

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

const maxBatchChars = 1_000_000;
const maxWaitingChars = 16_000_000;

/**
 * Upstash Redis over REST (https://upstash.com/docs/redis/features/restapi): the vendor's client publishes; each channel
 * is one streaming response, read by ours, because the vendor's `subscribe` does not report when its stream ends.
 *
 * On Workers create one broker for each request or Durable Object: what is published together travels in one request,
 * and a Worker may not do another request's I/O.
 *
 * A publish that timed out may still have been taken; one that was refused or could not connect was not.
 */
export function createUpstashBroker(options: UpstashBrokerOptions): Broker {
  const { database, token, timeoutMs = 5000, idleMs = 20_000, graceMs = 10_000 } = options;
  requireDatabase(database);
  requireToken(token);
  const url = parseServiceUrl(options.url, "UPSTASH_REDIS_REST_URL");
  const secrets = [token];
  const closing = new AbortController();
  const redis = new Redis({
    url,
    token,
    // A publish whose answer was lost may have been taken. (`false` still sends it a second time.)
    retry: { retries: 0 },
    // A function: with a plain signal the client answers an aborted command as if it had succeeded.
    signal: () => AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]),
    // The send queue batches.
    enableAutoPipelining: false,
    enableTelemetry: false,
    readYourWrites: false,
    responseEncoding: false,
    automaticDeserialization: false,
    keepAlive: false,
  });

  const queue = createSendQueue<{ readonly key: string; readonly message: string }>({
    sizeOf: ({ message }) => message.length,
    maxBatchSize: maxBatchChars,
    maxWaitingSize: maxWaitingChars,
    async send(items) {
      try {
        const pipeline = redis.pipeline();
        for (const { key, message } of items) pipeline.publish(key, message);
        const replies = await pipeline.exec({ keepErrors: true });
        if (replies.length !== items.length) throw new Error("The answer is not one reply for each command");
        return replies.map(toPublishFailure);
      } catch (error) {
        throw toFailure("publish", error);
      }
    },
  });

  const subscriptions = createSharedSubscriptions((channel, listener) => {
    const key = toChannelKey(database, channel);
    return openEventStreamSource(
      {
        request: (signal) =>
          fetch(`${url}/subscribe/${encodeURIComponent(key)}`, {
            method: "POST",
            headers: { authorization: `Bearer ${token}`, accept: "text/event-stream", "cache-control": "no-cache" },
            // A redirect is a wrong URL; followed, it would carry the token elsewhere.
            redirect: "manual",
            signal,
          }),
        async toRefusal(response) {
          return toFailure("subscribe", new Error(`HTTP ${response.status}: ${await readRefusal(response)}`));
        },
        toFailure: (cause) => toFailure("subscribe", cause),
        isConfirmation: ({ data }) => data.startsWith(`subscribe,${key},`),
        toMessage: (event) => toMessage(event, key),
        // Upstash promises no separate keep-alive. Every subscriber of the channel receives this one.
        onIdle: () => void redis.publish(key, pingMessage).catch(() => undefined),
        timeoutMs,
        idleMs,
        graceMs,
      },
      listener,
    );
  });

  return {
    async publish(channel, message) {
      requireMessage(message);
      requireOpen("publish");
      await queue.push({ key: toChannelKey(database, channel), message });
    },
    async subscribe(channels, handlers, signal) {
      await subscriptions.subscribe(channels, handlers, signal);
    },
    async ping() {
      requireOpen("ping");
      try {
        await redis.ping();
      } catch (error) {
        throw toFailure("ping", error);
      }
    },
    async close() {
      closing.abort();
      subscriptions.close();
    },
  };

  function requireOpen(action: string): void {
    if (closing.signal.aborted) throw brokerClosed(action);
  }

  function toPublishFailure({
    error,
    result,
  }: {
    readonly error?: string;
    readonly result?: unknown;
  }): AppError | null {
    if (error === undefined && typeof result === "number") return null;
    return toFailure("publish", new Error(error ?? "The reply is not a number of subscribers"));
  }

  function toFailure(action: string, error: unknown): AppError {
    if (closing.signal.aborted) return brokerClosed(action);
    const cause = withoutCommand(error);
    const text = cause instanceof Error ? cause.message : "";
    if (/WRONGPASS|unauthorized|HTTP 40[13]\b/i.test(text)) {
      return unavailable(`Cannot ${action}: Upstash refused the token (UPSTASH_REDIS_REST_TOKEN)`, {
        cause,
        secrets,
        retryAfterSeconds: 30,
      });
    }
    if (/NOPERM/.test(text)) {
      return unavailable(`Cannot ${action}: the token (UPSTASH_REDIS_REST_TOKEN) may not do that`, {
        cause,
        secrets,
        retryAfterSeconds: 30,
      });
    }
    const isLate = error === undefined || (error instanceof Error && error.name === "TimeoutError");
    const what = isLate ? `did not answer within ${timeoutMs / 1000} s` : "cannot be reached or does not serve";
    return unavailable(`Cannot ${action}: Upstash ${what}`, { cause, secrets });
  }
}

/** The client's error for a refused request quotes the whole command, and so every message in it. */
function withoutCommand(error: unknown): unknown {
  const [text, command] = error instanceof Error ? error.message.split(", command was: ", 2) : [];
  return command === undefined ? error : new Error(text);
}

/** `message,<channel>,<text>`; null for what carries no text of a publisher. */
function toMessage({ data }: EventSourceMessage, key: string): string | null {
  const prefix = `message,${key},`;
  if (!data.startsWith(prefix)) throw new TypeError("Cannot read a frame of the subscription: expected a message");
  const message = data.slice(prefix.length);
  if (isTooLong(message)) throw new RangeError("Cannot read a message: it is over the bound");
  return message === pingMessage ? null : message;
}

function requireToken(token: string): void {
  if (/^[\x21-\x7e]+$/.test(token)) return;
  throw new TypeError(
    "Cannot make a broker: UPSTASH_REDIS_REST_TOKEN is not valid: expected a token without spaces or line breaks",
  );
}
