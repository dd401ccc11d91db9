import type { EventSourceMessage } from "eventsource-parser";
import type { AppError } from "../app_error.ts";
import type { Broker } from "../broker.ts";
import { requireDatabase, toChannelKey } from "./channel_key.ts";
import { openEventStreamSource } from "./event_stream_source.ts";
import { isTooLong, pingMessage, requireMessage } from "./message.ts";
import { parseServiceUrl } from "./service_url.ts";
import { createSendQueue } from "./send_queue.ts";
import { createSharedSubscriptions } from "./shared_subscriptions.ts";
import { unavailable } from "./unavailable.ts";
import { createUpstashPipeline, type UpstashReply } from "./upstash_pipeline.ts";

export interface UpstashBrokerOptions {
  /** `UPSTASH_REDIS_REST_URL`. */
  readonly url: string;
  /** `UPSTASH_REDIS_REST_TOKEN`. */
  readonly token: string;
  /** `EVENTSTREAM_CACHE_DB`. */
  readonly database: number;
  /** Bound on one request, and on the confirmation of one subscription. Default 5,000. */
  readonly timeoutMs?: number;
  /** A subscription on which nothing was heard for so long is asked for a sign of life. Default 20,000. */
  readonly quietMs?: number;
  /** How long that sign may take. Default 10,000. */
  readonly patienceMs?: number;
}

const maxBatchChars = 1_000_000;
const maxWaitingChars = 16_000_000;

/**
 * Upstash Redis over REST (https://upstash.com/docs/redis/features/restapi): one streaming response per channel.
 *
 * Without the vendor's client: its `subscribe` tells nobody when the stream ends, and see `upstash_pipeline.ts`. On Workers
 * create one broker for each request or Durable Object: what is published together travels in one request, and a Worker
 * may not do another request's I/O.
 *
 * A publish that timed out may still have been taken; one that was refused or could not connect was not.
 */
export function createUpstashBroker(options: UpstashBrokerOptions): Broker {
  const { database, token, timeoutMs = 5000, quietMs = 20_000, patienceMs = 10_000 } = options;
  requireDatabase(database);
  requireToken(token);
  const url = parseServiceUrl(options.url, "UPSTASH_REDIS_REST_URL");
  const secrets = [token];
  const closing = new AbortController();
  const pipeline = createUpstashPipeline({ url, token, timeoutMs, signal: closing.signal });

  const queue = createSendQueue<{ readonly key: string; readonly message: string }>({
    sizeOf: ({ message }) => message.length,
    maxBatchSize: maxBatchChars,
    maxWaitingSize: maxWaitingChars,
    async send(items) {
      try {
        const replies = await pipeline(items.map(({ key, message }) => ["publish", key, message]));
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
          return toFailure("subscribe", new Error(`HTTP ${response.status}: ${await response.text()}`));
        },
        toFailure: (cause) => toFailure("subscribe", cause),
        isConfirmation: ({ data }) => data.startsWith(`subscribe,${key},`),
        toMessage: (event) => toMessage(event, key),
        // Upstash promises no keep-alive of its own. Every subscriber of the channel hears this one.
        onQuiet: () => void pipeline([["publish", key, pingMessage]]).catch(() => undefined),
        timeoutMs,
        quietMs,
        patienceMs,
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
        const [reply] = await pipeline([["ping"]]);
        if (reply?.error !== undefined) throw new Error(reply.error);
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
    if (closing.signal.aborted) throw unavailable(`Cannot ${action}: the broker is closed`, { secrets });
  }

  function toPublishFailure({ error }: UpstashReply): AppError | null {
    return error === undefined ? null : toFailure("publish", new Error(error));
  }

  function toFailure(action: string, error: unknown): AppError {
    if (closing.signal.aborted) return unavailable(`Cannot ${action}: the broker was closed`, { secrets });
    const words = error instanceof Error ? error.message : "";
    if (/WRONGPASS|unauthorized|HTTP 40[13]\b/i.test(words)) {
      return unavailable(`Cannot ${action}: Upstash refused the token (UPSTASH_REDIS_REST_TOKEN)`, {
        cause: error,
        secrets,
        retryAfterSeconds: 30,
      });
    }
    if (/NOPERM/.test(words)) {
      return unavailable(`Cannot ${action}: the token (UPSTASH_REDIS_REST_TOKEN) may not do that`, {
        cause: error,
        secrets,
        retryAfterSeconds: 30,
      });
    }
    const isLate = error === undefined || (error instanceof Error && error.name === "TimeoutError");
    const what = isLate ? `did not answer within ${timeoutMs / 1000} s` : "cannot be reached or does not serve";
    return unavailable(`Cannot ${action}: Upstash ${what}`, { cause: error, secrets });
  }
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
