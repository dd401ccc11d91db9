import type { AppError } from "../app_error.ts";
import { withDeliveryId } from "../event.ts";
import { readRefusal } from "../http_refusal.ts";
import { createPublisher, type Publisher } from "../send_event.ts";
import { createSendQueue, type SendQueue } from "./send_queue.ts";
import { parseServiceUrl, requireCredential } from "./service_url.ts";
import { brokerClosed, unavailable } from "./unavailable.ts";

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

const maxWaitingBytes = 16_000_000;
/** Bounds on one request, below the 500 events and 1 MiB that the gateway takes. */
const maxBatchEvents = 500;
const maxBatchBytes = 1_000_000;
const encoder = new TextEncoder();
/** Channels whose numbers go on; the least recent begins anew. */
const maxChannels = 1000;

/** Events of one channel are numbered `<producer>.<n>`, as the gateway requires where it stores them. */
interface Channel {
  readonly queue: SendQueue<string>;
  producer: string;
  /** The last number that the gateway has taken. */
  count: number;
  /** The messages that were sent under the numbers after `count`, and whose answer was lost. */
  unanswered: readonly string[];
}

/**
 * A publisher for producers outside the gateway, with an API key and no broker credentials:
 * `const { sendEvent } = createGatewayPublisher({ url, apiKey })`.
 *
 * `sendEvent` that rejects after a timeout or a broken connection may have been taken all the same. Send the same event again: it
 * goes out under its old number, and is stored once.
 */
export function createGatewayPublisher(options: GatewayBrokerOptions): GatewayPublisher {
  const { apiKey, timeoutMs = 8000 } = options;
  const url = parseServiceUrl(options.url, "SCANSTREAM_URL");
  requireCredential(apiKey, "SCANSTREAM_API_KEY");
  // Called as a property of `globalThis`: Workers refuses it unbound.
  const send = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const headers = { authorization: `Api-Key ${apiKey}`, "content-type": "application/json" };
  const secrets = [apiKey];
  const closing = new AbortController();
  const channels = new Map<string, Channel>();

  const { sendEvent } = createPublisher({
    async publish(name, message) {
      if (closing.signal.aborted) throw brokerClosed("publish");
      await channelOf(name).queue.push(message);
    },
  });
  return {
    sendEvent,
    async close() {
      closing.abort();
    },
  };

  function channelOf(name: string): Channel {
    const channel = channels.get(name) ?? createChannel(name);
    channels.delete(name);
    channels.set(name, channel);
    const idle = Array.from(channels).find(([, { queue }]) => queue.isIdle());
    if (channels.size > maxChannels && idle !== undefined) channels.delete(idle[0]);
    return channel;
  }

  function createChannel(name: string): Channel {
    // One request in flight for each channel: two concurrent ones could overtake each other.
    const queue = createSendQueue<string>({
      send: (messages) => postAll(name, channel, messages),
      // So that neither the bytes nor the number of a batch's events pass their bound.
      sizeOf: (message) => Math.max(encoder.encode(message).byteLength + 1, maxBatchBytes / maxBatchEvents),
      maxBatchSize: maxBatchBytes,
      maxWaitingSize: maxWaitingBytes,
    });
    const channel: Channel = { queue, producer: crypto.randomUUID(), count: 0, unanswered: [] };
    return channel;
  }

  /** Resolves with the gateway's refusal of each event, or null; rejects when the gateway is unavailable. A batch is taken as a whole or not at all. */
  async function postAll(
    name: string,
    channel: Channel,
    messages: readonly string[],
  ): Promise<readonly (AppError | null)[]> {
    const refusal = await post(name, channel, messages);
    if (messages.length === 1 || refusal === null) return messages.map(() => refusal);
    // One of them was refused: sent one by one, so that the others are still published.
    const refusals: (AppError | null)[] = [];
    for (const message of messages) refusals.push(await post(name, channel, [message]));
    return refusals;
  }

  /** The gateway's refusal, or null; rejects when the gateway is unavailable. */
  async function post(name: string, channel: Channel, messages: readonly string[]): Promise<AppError | null> {
    const repeated = repeatedFrom(channel.unanswered, messages);
    // Other events than those whose answer was lost: their numbers may or may not have been used, so others begin.
    if (repeated === -1) Object.assign(channel, { producer: crypto.randomUUID(), count: 0, unanswered: [] });
    const offset = Math.max(0, repeated);
    const { producer, count, unanswered } = channel;
    const end = offset + messages.length;
    const events = messages.map((message, index) =>
      withDeliveryId(message, `${producer}.${count + offset + index + 1}`),
    );
    channel.unanswered = [...unanswered.slice(0, offset), ...messages, ...unanswered.slice(end)];
    const answer = await postBody(name, `{"events":[${events.join(",")}]}`);
    channel.unanswered = unanswered;
    if (answer === null) {
      channel.count += end;
      channel.unanswered = unanswered.slice(end);
      return null;
    }
    // Earlier events of the lost batch were never stored: the numbers go on from where the gateway is.
    const expected = new RegExp(`expected ${producer}\\.(\\d+) `).exec(String(answer.cause))?.[1];
    if (expected === undefined || offset === 0) return answer;
    Object.assign(channel, { count: Number(expected) - 1, unanswered: [] });
    return post(name, channel, messages);
  }

  async function postBody(name: string, body: string): Promise<AppError | null> {
    const response = await send(`${url}/api/v1/channels/${encodeURIComponent(name)}/events`, {
      method: "POST",
      body,
      headers,
      // A redirect is a wrong URL; followed, it would carry the key elsewhere.
      redirect: "manual",
      signal: AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]),
    }).catch((error: unknown) => {
      throw toFailure(error);
    });
    if (response.status === 202) {
      await response.body?.cancel();
      return null;
    }
    const refusal = await toRefusal(response);
    if (response.status >= 500) throw refusal;
    return refusal;
  }

  function toFailure(error: unknown): AppError {
    if (closing.signal.aborted) return brokerClosed("publish");
    const isLate = error instanceof Error && error.name === "TimeoutError";
    const what = isLate ? `did not answer within ${timeoutMs / 1000} s` : "cannot be reached";
    return unavailable(`Cannot publish: the gateway at ${JSON.stringify(url)} ${what}`, { cause: error, secrets });
  }

  /** Its cause has the gateway's own words. */
  async function toRefusal(response: Response): Promise<AppError> {
    const { status } = response;
    const { detail, retryAfterMs } = await readRefusal(response);
    const isTemporary = status >= 500 || status === 429;
    return unavailable(`Cannot publish: the gateway at ${JSON.stringify(url)} ${meaningOf(status)}`, {
      cause: new Error(detail ?? `HTTP ${status}`),
      secrets,
      ...(retryAfterMs ? { retryAfterSeconds: retryAfterMs / 1000 } : isTemporary ? {} : { retryAfterSeconds: 30 }),
    });
  }
}

/** The place in the unanswered messages from which on these repeat them; 0 where all were answered, -1 where these are others. */
function repeatedFrom(unanswered: readonly string[], messages: readonly string[]): number {
  if (unanswered.length === 0) return 0;
  return unanswered.findIndex((_, start) => {
    const rest = unanswered.slice(start, start + messages.length);
    return rest.every((message, index) => message === messages[index]);
  });
}

function meaningOf(status: number): string {
  if (status === 401) return "refused the API key (401, SCANSTREAM_API_KEY)";
  if (status === 403) return "does not allow the API key this channel (403)";
  if (status === 404) return "does not know the resource (404)";
  return `answered ${status}`;
}
