import { randomUUID } from "node:crypto";
import type { CheckedEvent } from "../../shared/event.ts";
import { GatewayRefusal, problemOf, type NumberedEvent } from "../../shared/client/gateway_client.ts";

/** Events on their way to the gateway, oldest first: a list and a cursor. */
export interface EventQueue<Item> {
  /** The oldest that are not settled. */
  first(max: number): readonly Item[];
  /** Takes the oldest out: the gateway has stored them, or will never. */
  settle(items: readonly Item[]): void;
}

/** A queue in memory. */
export class MemoryQueue<Item> implements EventQueue<Item> {
  readonly #items: Item[] = [];

  push(item: Item): void {
    this.#items.push(item);
  }

  first(max: number): readonly Item[] {
    return this.#items.slice(0, max);
  }

  settle({ length }: readonly Item[]): void {
    this.#items.splice(0, length);
  }
}

export interface DeliveryOptions<Item> {
  readonly toEvent: (item: Item) => CheckedEvent;
  /** Resolves when the batch was accepted; rejects to give up. It sends the same batch as often as it needs. */
  readonly publish: (batch: readonly NumberedEvent[]) => Promise<unknown>;
  readonly onRefused: (item: Item, problem: string) => void;
}

/** Below the 500 events and 1 MiB that the gateway accepts at once. */
const maxBatchEvents = 500;
const maxBatchBytes = 1_000_000;
/** Room for the number of an event. */
const deliveryIdBytes = 80;

/**
 * Makes a function that sends a queue until it is empty: in order, one batch in flight, and each event under its number, so that
 * it is stored once however often it is sent. A batch that is refused is sent in halves, so that only the event that the gateway
 * refuses is lost.
 */
export function createDelivery<Item>({ toEvent, publish, onRefused }: DeliveryOptions<Item>) {
  const producer = randomUUID();
  let sent = 0;
  return async (queue: EventQueue<Item>): Promise<void> => {
    for (;;) {
      const batch = fitting(queue.first(maxBatchEvents));
      if (batch.length === 0) return;
      await send(queue, batch);
    }
  };

  async function send(queue: EventQueue<Item>, items: readonly Item[]): Promise<void> {
    try {
      await publish(
        items.map((item, index) => {
          const { type, payload } = toEvent(item);
          return { type, data: payload, delivery_id: `${producer}.${sent + 1 + index}` };
        }),
      );
      sent += items.length;
      queue.settle(items);
    } catch (error) {
      const [first] = items;
      if (!isRefusedBody(error) || first === undefined) throw error;
      if (items.length === 1) {
        queue.settle(items);
        onRefused(first, problemOf(error));
        return;
      }
      const half = Math.ceil(items.length / 2);
      await send(queue, items.slice(0, half));
      await send(queue, items.slice(half));
    }
  }

  function fitting(items: readonly Item[]): readonly Item[] {
    let bytes = 0;
    const end = items.findIndex((item) => {
      bytes += Buffer.byteLength(JSON.stringify(toEvent(item))) + deliveryIdBytes;
      return bytes > maxBatchBytes;
    });
    return end === -1 ? items : items.slice(0, Math.max(1, end));
  }
}

const retryDelaysMs = [250, 1000, 2000, 4000] as const;

/** The backoff after this many failures in a row, from 1 on. */
export function retryDelayMs(failures: number): number {
  return retryDelaysMs[Math.min(failures, retryDelaysMs.length) - 1] ?? 0;
}

interface RetryHooks {
  readonly onAccepted: () => void;
  /** Resolves when it is time for the next try; rejects to give up. */
  readonly beforeRetry: (error: unknown, failures: number) => Promise<void>;
}

/** Makes a function that sends until the gateway accepts. It rejects on a permanent refusal, and when `signal` aborts. */
export function createRetry(signal: AbortSignal, { onAccepted, beforeRetry }: RetryHooks) {
  return async <Answer>(send: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> => {
    for (let failures = 1; ; failures += 1) {
      signal.throwIfAborted();
      try {
        const answer = await send(signal);
        onAccepted();
        return answer;
      } catch (error) {
        if (signal.aborted || isPermanent(error)) throw error;
        await beforeRetry(error, failures);
      }
    }
  };
}

/** 4xx but 429: a retry would be refused as well. */
function isPermanent(error: unknown): boolean {
  return error instanceof GatewayRefusal && error.httpStatus < 500 && error.httpStatus !== 429;
}

/** Checks the gateway's own words, because a 404 may be a proxy's, too. */
export function isMissing(error: unknown, what: "scan" | "monitor"): boolean {
  return error instanceof GatewayRefusal && error.httpStatus === 404 && error.message.includes(`No such ${what}`);
}

/** The gateway does not take this body, whenever it is sent; it may take another. */
export function isRefusedBody(error: unknown): boolean {
  return error instanceof GatewayRefusal && (error.httpStatus === 422 || error.httpStatus === 413);
}
