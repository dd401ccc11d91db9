import type { AppError } from "../app_error.ts";
import { numberEvents } from "../client/numbered_events.ts";
import { GatewayRefusal, isTemporary, readRefusal } from "../http_refusal.ts";
import { createPublisher, type Publisher } from "../send_event.ts";
import { boundWaiting } from "./message.ts";
import { createSendQueue, type QueuedMessage, type SendQueue } from "./send_queue.ts";
import { parseCredential, parseOption, parseServiceUrl } from "./service_url.ts";
import { brokerClosed, refusedRetryAfterSeconds, serverFailure, unavailable } from "./unavailable.ts";

export interface GatewayBrokerOptions {
  /** The gateway's address, without a path: `SCANSTREAM_URL`. */
  readonly url: string;
  /** `SCANSTREAM_API_KEY`. */
  readonly apiKey: string;
  readonly fetch?: typeof globalThis.fetch;
  /** Bound on one request. Default 8,000. */
  readonly timeoutMs?: number;
}

export interface GatewayPublisher extends Publisher {
  /** Gives up what was not sent yet. */
  readonly close: () => Promise<void>;
}

/** Channels whose numbers go on; the least recent begins anew. */
const maxChannels = 1000;

/**
 * A publisher for producers outside the gateway, with an API key and no broker credentials:
 * `const { sendEvent } = createGatewayPublisher({ url, apiKey })`.
 *
 * `sendEvent` that rejects after a timeout or a broken connection may have been taken all the same. Send the same event again within a minute: it
 * is stored once. Otherwise it goes out before the next event of its channel.
 */
export function createGatewayPublisher(options: GatewayBrokerOptions): GatewayPublisher {
  const { timeoutMs = 8000 } = options;
  const url = parseOption("url (SCANSTREAM_URL)", options.url, parseServiceUrl);
  const apiKey = parseOption("apiKey (SCANSTREAM_API_KEY)", options.apiKey, parseCredential);
  // Called as a property of `globalThis`: Workers refuses it unbound.
  const send = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const headers = { authorization: `Api-Key ${apiKey}`, "content-type": "application/json" };
  const secrets = [apiKey];
  const closing = new AbortController();
  const queues = new Map<string, SendQueue>();

  const publish = boundWaiting(async (channel, message) => {
    if (closing.signal.aborted) throw brokerClosed("publish");
    await queueOf(channel).push(channel, message);
  });
  const { sendEvent } = createPublisher({ publish });
  return { sendEvent, close: async () => closing.abort() };

  /** One for each channel, because the gateway takes a batch for one. */
  function queueOf(channel: string): SendQueue {
    const queue = queues.get(channel) ?? createQueue(channel);
    queues.delete(channel);
    queues.set(channel, queue);
    const idle = queues.size > maxChannels && Array.from(queues).find(([, one]) => one.isIdle());
    if (idle) queues.delete(idle[0]);
    return queue;
  }

  function createQueue(channel: string): SendQueue {
    const sendNumbered = numberEvents<QueuedMessage>((events) => post(channel, events));
    return createSendQueue((entries) => {
      const settle = ({ resolve, reject }: QueuedMessage, refusal: GatewayRefusal | null) =>
        refusal === null ? resolve() : reject(toFailure(refusal));
      return sendNumbered(entries, settle).catch((error: unknown) => {
        throw toFailure(error);
      });
    });
  }

  async function post(channel: string, events: readonly string[]): Promise<void> {
    const response = await send(`${url}/api/v1/channels/${encodeURIComponent(channel)}/events`, {
      method: "POST",
      body: `{"events":[${events.join(",")}]}`,
      headers,
      // A redirect is a wrong URL; followed, it would carry the key elsewhere.
      redirect: "manual",
      signal: AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (response.status !== 202) throw await readRefusal(response);
    await response.body?.cancel();
  }

  /** The cause of a refusal has the gateway's own words. */
  function toFailure(error: unknown): AppError {
    if (closing.signal.aborted) return brokerClosed("publish");
    const server = `the gateway at ${JSON.stringify(url)}`;
    if (!(error instanceof GatewayRefusal)) {
      return serverFailure("publish", error, { server, timeoutMs, secrets, refusals: [] });
    }
    const { httpStatus: status, detail, retryAfterMs } = error;
    // An answer without the gateway's words comes from a proxy, while the gateway is away.
    const meaning = detail === null ? "" : meanings[status];
    const patience = isTemporary(status) || meaning === "" ? {} : { retryAfterSeconds: refusedRetryAfterSeconds };
    return unavailable(`Cannot publish: ${server} ${meaning || `answered ${status}`}`, {
      cause: new Error(detail ?? `HTTP ${status}`),
      secrets,
      ...(retryAfterMs ? { retryAfterSeconds: retryAfterMs / 1000 } : patience),
    });
  }
}

const meanings: Readonly<Record<number, string>> = {
  401: "refused the API key (401, SCANSTREAM_API_KEY)",
  403: "does not allow the API key this channel (403)",
  404: "does not know the resource (404)",
};
