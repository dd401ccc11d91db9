import { readRefusal } from "../read_bounded.ts";
import type { AppError } from "../app_error.ts";
import type { MessagePublisher } from "../broker.ts";
import { problemDetail } from "../problem_detail.ts";
import { parseMessage, withDeliveryId } from "../event.ts";
import { parseRetryAfterMs } from "../retry_after.ts";
import { createPublisher, type Publisher } from "../send_event.ts";
import { createSendQueue, type SendQueue } from "./send_queue.ts";
import { parseServiceUrl, requireCredential } from "./service_url.ts";
import { brokerClosed, unavailable } from "./unavailable.ts";

export interface GatewayBrokerOptions {
  /** `SCANSTREAM_URL`. */
  readonly url: string;
  /** `SCANSTREAM_API_KEY`. */
  readonly apiKey: string;
  readonly fetch?: typeof globalThis.fetch;
  /** Bound on one request. Default 8,000. */
  readonly timeoutMs?: number;
}

interface Closable {
  /** Gives up what was not sent yet. */
  readonly close: () => Promise<void>;
}
export type GatewayBroker = MessagePublisher & Closable;
export type GatewayPublisher = Publisher & Closable;

const maxWaitingBytes = 16_000_000;
/** For one request, below the 500 events and 1 MiB that the gateway takes. */
const maxBatchEvents = 500;
const maxBatchBytes = 1_000_000;
const encoder = new TextEncoder();
const maxDetailChars = 300;
/** Channels whose numbers go on; the least recent begins anew. */
const maxNumberings = 1000;

/** A publisher for producers outside the gateway: `const { sendEvent } = createGatewayPublisher({ url, apiKey })`. */
export function createGatewayPublisher(options: GatewayBrokerOptions): GatewayPublisher {
  const broker = createGatewayBroker(options);
  return { ...createPublisher(broker), close: () => broker.close() };
}

/**
 * The gateway as a broker, for producers that hold an API key and no broker credentials: a scan in a CI pipeline.
 *
 * It carries events only: a message that is invalid is refused with `TypeError`. A publish that timed out may still have been
 * taken; one that was refused or could not connect was not. It numbers the events of each channel, as the gateway requires
 * where it stores them.
 */
export function createGatewayBroker(options: GatewayBrokerOptions): GatewayBroker {
  const { apiKey, timeoutMs = 8000 } = options;
  const url = parseServiceUrl(options.url, "SCANSTREAM_URL");
  requireCredential(apiKey, "SCANSTREAM_API_KEY");
  // Called as a property of `globalThis`: Workers refuses it unbound.
  const send = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const headers = { authorization: `Api-Key ${apiKey}`, "content-type": "application/json" };
  const secrets = [apiKey];
  const closing = new AbortController();
  const queues = new Map<string, SendQueue<string>>();
  const numberings = new Map<string, Numbering>();

  return {
    async publish(channel, message) {
      if (parseMessage(message) === null) throw new TypeError("Cannot publish: the message is not an event");
      if (closing.signal.aborted) throw brokerClosed("publish");
      await publishInOrder(channel, message);
    },
    async close() {
      closing.abort();
    },
  };

  /** One request per channel in flight: two concurrent ones could overtake each other. */
  async function publishInOrder(channel: string, message: string): Promise<void> {
    const queue =
      queues.get(channel) ??
      createSendQueue<string>({
        send: (items) => postAll(channel, items),
        // So that neither the bytes nor the number of a batch's events pass their bound.
        sizeOf: (item) => Math.max(encoder.encode(item).byteLength + 1, maxBatchBytes / maxBatchEvents),
        maxBatchSize: maxBatchBytes,
        maxWaitingSize: maxWaitingBytes,
      });
    queues.set(channel, queue);
    try {
      await queue.push(message);
    } finally {
      if (queue.isIdle()) queues.delete(channel);
    }
  }

  /** For each event the gateway's refusal, or null; rejects when the gateway is unavailable. A batch is taken as a whole or not at all. */
  async function postAll(channel: string, messages: readonly string[]): Promise<readonly (AppError | null)[]> {
    const refusal = await post(channel, messages);
    if (messages.length === 1 || refusal === null) return messages.map(() => refusal);
    // One of them was refused: sent one by one, so that the others are still published.
    const refusals: (AppError | null)[] = [];
    for (const message of messages) refusals.push(await post(channel, [message]));
    return refusals;
  }

  /** The gateway's refusal, or null; rejects when the gateway is unavailable. */
  async function post(channel: string, messages: readonly string[]): Promise<AppError | null> {
    const numbering = numberings.get(channel) ?? { producer: crypto.randomUUID(), count: 0 };
    // Until there is an answer nobody knows how far these numbers were used: a failure begins others.
    numberings.delete(channel);
    const refusal = await postBody(channel, `{"events":[${numbered(messages, numbering).join(",")}]}`);
    numberings.set(channel, { ...numbering, count: numbering.count + (refusal === null ? messages.length : 0) });
    const [oldest = ""] = numberings.keys();
    if (numberings.size > maxNumberings) numberings.delete(oldest);
    return refusal;
  }

  async function postBody(channel: string, body: string): Promise<AppError | null> {
    const response = await send(`${url}/api/v1/channels/${encodeURIComponent(channel)}/events`, {
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

  async function toRefusal(response: Response): Promise<AppError> {
    const retryAfterMs = parseRetryAfterMs(response.headers, Date.now()) ?? 0;
    const isTemporary = response.status >= 500 || response.status === 429;
    return unavailable(`Cannot publish: the gateway at ${JSON.stringify(url)} ${meaningOf(response.status)}`, {
      cause: new Error(
        problemDetail(await readRefusal(response))?.slice(0, maxDetailChars) ?? `HTTP ${response.status}`,
      ),
      secrets,
      ...(retryAfterMs > 0 ? { retryAfterSeconds: retryAfterMs / 1000 } : isTemporary ? {} : { retryAfterSeconds: 30 }),
    });
  }
}

/** How far the events of a channel were numbered. */
interface Numbering {
  readonly producer: string;
  readonly count: number;
}

/** A message is the `{"type", "data"}` of the route already. One that its producer has numbered keeps its number. */
function numbered(messages: readonly string[], { producer, count }: Numbering): readonly string[] {
  return messages.map((message, index) =>
    parseMessage(message)?.deliveryId === undefined
      ? withDeliveryId(message, `${producer}.${count + 1 + index}`)
      : message,
  );
}

function meaningOf(status: number): string {
  if (status === 401) return "refused the API key (401, SCANSTREAM_API_KEY)";
  if (status === 403) return "does not allow the API key this channel (403)";
  if (status === 404) return "does not know the resource (404)";
  return `answered ${status}`;
}
