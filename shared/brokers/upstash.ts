import type { AppError } from "../app_error.ts";
import type { Broker } from "../broker.ts";
import { readBounded } from "../read_bounded.ts";
import { requireDatabase, toChannelKey } from "./channel_key.ts";
import { pingMessage, requireMessage } from "./message.ts";
import { parseServiceUrl } from "./service_url.ts";
import { createSendQueue } from "./send_queue.ts";
import { createSubscriptions } from "./subscriptions.ts";
import { brokerClosed, unavailable } from "./unavailable.ts";
import { openUpstashSubscription, refusalOf } from "./upstash_subscription.ts";

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
/** A reply is a number or one line; Upstash never answers many times a batch. */
const maxRepliesBytes = 16 * 1024 * 1024;
const maxWaitingChars = 16_000_000;

/**
 * Upstash Redis over REST (https://upstash.com/docs/redis/features/restapi): what is published together is one pipeline,
 * and each channel is one streaming response. The vendor's client is not used: its `subscribe` does not report when its
 * stream ends, and with its retries and encodings off its `publish` is the request below, at 17 KiB of a Worker.
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
  const queue = createSendQueue<{ readonly key: string; readonly message: string }>({
    sizeOf: ({ message }) => message.length,
    maxBatchSize: maxBatchChars,
    maxWaitingSize: maxWaitingChars,
    async send(items) {
      const replies = await send(
        "publish",
        items.map(({ key, message }) => ["publish", key, message]),
      );
      return replies.map((reply) => toReplyFailure("publish", reply, "number"));
    },
  });

  const subscriptions = createSubscriptions((channel, listener) => {
    const key = toChannelKey(database, channel);
    const path = `subscribe/${encodeURIComponent(key)}`;
    return openUpstashSubscription(
      {
        key,
        request: (signal) => post(path, { accept: "text/event-stream", "cache-control": "no-cache" }, { signal }),
        toFailure: (cause) => toFailure("subscribe", cause),
        // Upstash promises no separate keep-alive. Every subscriber of the channel receives this one.
        ping: () => void send("publish", [["publish", key, pingMessage]]).catch(() => undefined),
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
    subscribe: (channel, handlers, signal) => subscriptions.subscribe(channel, handlers, signal),
    async ping() {
      requireOpen("ping");
      const [reply] = await send("ping", [["ping"]]);
      const failure = toReplyFailure("ping", reply, "string");
      if (failure !== null) throw failure;
    },
    async close() {
      closing.abort();
      subscriptions.close();
    },
  };

  function requireOpen(action: string): void {
    if (closing.signal.aborted) throw brokerClosed(action);
  }

  function post(path: string, headers: Readonly<Record<string, string>>, rest: RequestInit): Promise<Response> {
    return fetch(`${url}/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, ...headers },
      // A redirect is a wrong URL; followed, it would carry the token elsewhere.
      redirect: "manual",
      ...rest,
    });
  }

  /** One reply for each command, none of them read yet. It is sent once: a publish whose answer was lost may have been taken. */
  async function send(action: string, commands: readonly (readonly string[])[]): Promise<readonly unknown[]> {
    try {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]);
      const body = JSON.stringify(commands);
      const response = await post("pipeline", { "content-type": "application/json" }, { body, signal });
      if (!response.ok) throw await refusalOf(response);
      const text = new TextDecoder().decode(await readBounded(response.body, maxRepliesBytes));
      const replies: unknown = JSON.parse(text);
      if (!Array.isArray(replies) || replies.length !== commands.length) {
        throw new Error("The answer is not one reply for each command");
      }
      return replies;
    } catch (error) {
      throw toFailure(action, error);
    }
  }

  function toReplyFailure(action: string, reply: unknown, expected: "number" | "string"): AppError | null {
    const { error, result } = Object(reply) as { readonly error?: unknown; readonly result?: unknown };
    if (error === undefined && typeof result === expected) return null;
    return toFailure(action, new Error(typeof error === "string" ? error : `The reply is not a ${expected}`));
  }

  function toFailure(action: string, error: unknown): AppError {
    if (closing.signal.aborted) return brokerClosed(action);
    const text = error instanceof Error ? error.message : "";
    if (/WRONGPASS|unauthorized|HTTP 40[13]\b/i.test(text)) {
      return unavailable(`Cannot ${action}: Upstash refused the token (UPSTASH_REDIS_REST_TOKEN)`, {
        cause: error,
        secrets,
        retryAfterSeconds: 30,
      });
    }
    if (/NOPERM/.test(text)) {
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

function requireToken(token: string): void {
  if (/^[\x21-\x7e]+$/.test(token)) return;
  throw new TypeError(
    "Cannot make a broker: UPSTASH_REDIS_REST_TOKEN is not valid: expected a token without spaces or line breaks",
  );
}
