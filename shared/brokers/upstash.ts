// The package's entry for Node reads environment variables, which Deno has to allow; this one is the same client on `fetch`.
import { errors, Redis } from "@upstash/redis/cloudflare";
import type { AppError } from "../app_error.ts";
import type { Broker } from "../broker.ts";
import { requireDatabase, toChannelKey } from "./channel_key.ts";
import { createBroker } from "./create_broker.ts";
import { pingMessage } from "./message.ts";
import { parseServiceUrl, requireCredential } from "./service_url.ts";
import { createSendQueue } from "./send_queue.ts";
import { brokerClosed, unavailable } from "./unavailable.ts";
import { openUpstashSubscription } from "./upstash_subscription.ts";

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
 * Upstash Redis over REST (https://upstash.com/docs/redis/features/restapi): what is published together is one pipeline of
 * `@upstash/redis`, and each channel is one streaming response, which `openUpstashSubscription` reads.
 *
 * On Workers create one broker for each request or Durable Object: what is published together travels in one request,
 * and a Worker may not do another request's I/O.
 *
 * A publish that timed out may still have been taken; one that was refused or could not connect was not.
 */
export function createUpstashBroker(options: UpstashBrokerOptions): Broker {
  const { database, token, timeoutMs = 5000, idleMs = 20_000, graceMs = 10_000 } = options;
  requireDatabase(database);
  requireCredential(token, "UPSTASH_REDIS_REST_TOKEN");
  const url = parseServiceUrl(options.url, "UPSTASH_REDIS_REST_URL");
  const secrets = [token];
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
  const queue = createSendQueue<{ readonly key: string; readonly message: string }>({
    sizeOf: ({ message }) => message.length,
    maxBatchSize: maxBatchChars,
    maxWaitingSize: maxWaitingChars,
    async send(items) {
      const pipeline = redis.pipeline();
      for (const { key, message } of items) pipeline.publish(key, message);
      return send("publish", pipeline, "number");
    },
  });

  return createBroker({
    async publish(channel, message) {
      await queue.push({ key: toChannelKey(database, channel), message });
    },
    openChannel(channel, handlers, signal) {
      const key = toChannelKey(database, channel);
      const options = {
        key,
        request: (ended: AbortSignal) =>
          fetch(`${url}/subscribe/${encodeURIComponent(key)}`, {
            method: "POST",
            headers: { authorization: `Bearer ${token}`, accept: "text/event-stream", "cache-control": "no-cache" },
            // A redirect is a wrong URL; followed, it would carry the token elsewhere.
            redirect: "manual",
            signal: ended,
          }),
        toFailure: (cause: unknown) => toFailure("subscribe", cause),
        // Upstash promises no separate keep-alive. Every subscriber of the channel receives this one.
        ping: () => void redis.publish(key, pingMessage).catch(() => undefined),
        timeoutMs,
        idleMs,
        graceMs,
      };
      return openUpstashSubscription(options, handlers, signal);
    },
    async ping() {
      const pipeline = redis.pipeline();
      pipeline.ping();
      const [failure] = await send("ping", pipeline, "string");
      if (failure) throw failure;
    },
    close: () => closing.abort(),
  });

  /** Resolves with each command's failure, or null; rejects when none was answered. */
  async function send(
    action: string,
    pipeline: ReturnType<Redis["pipeline"]>,
    expected: "number" | "string",
  ): Promise<readonly (AppError | null)[]> {
    try {
      const replies = await pipeline.exec<unknown[]>({ keepErrors: true });
      if (replies.length !== pipeline.length()) throw new Error("The answer is not one reply for each command");
      return replies.map(({ error, result }) => {
        if (error === undefined && typeof result === expected) return null;
        return toFailure(action, new errors.UpstashError(error ?? `The reply is not a ${expected}`));
      });
    } catch (error) {
      throw toFailure(action, error);
    }
  }

  function toFailure(action: string, error: unknown): AppError {
    if (closing.signal.aborted) return brokerClosed(action);
    const cause = withoutPayload(error);
    const text = cause instanceof Error ? cause.message : "";
    const refusal = /WRONGPASS|unauthorized|HTTP 40[13]\b/i.test(text)
      ? "Upstash refused the token (UPSTASH_REDIS_REST_TOKEN)"
      : /NOPERM/.test(text)
        ? "the token (UPSTASH_REDIS_REST_TOKEN) may not do that"
        : null;
    if (refusal !== null) return unavailable(`Cannot ${action}: ${refusal}`, { cause, secrets, retryAfterSeconds: 30 });
    const isLate = error === undefined || (error instanceof Error && error.name === "TimeoutError");
    const fault = isLate ? `did not answer within ${timeoutMs / 1000} s` : "cannot be reached or does not serve";
    return unavailable(`Cannot ${action}: Upstash ${fault}`, { cause, secrets });
  }
}

/**
 * Returns what may be logged. The package ends a refusal with the command and quotes an answer that is not JSON, and Redis quotes
 * arguments: each may hold the payload.
 */
function withoutPayload(error: unknown): unknown {
  if (error instanceof errors.UpstashJSONParseError) return new Error("The answer is not JSON");
  if (!(error instanceof errors.UpstashError)) return error;
  return new Error(error.message.split(/, command was: |['"`{[]/, 1)[0]);
}
