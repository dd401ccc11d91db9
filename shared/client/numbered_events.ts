import { maxBatchEvents, withDeliveryId } from "../event.ts";
import { GatewayRefusal } from "../http_refusal.ts";
import { isLongerThan } from "../text.ts";

/** Bytes of a batch, below the 1 MiB that the gateway takes at once. */
const maxBatchBytes = 1_000_000;
/** Within this time an event with the content of a lost one counts as that one; later it is another. */
const repeatsMs = 60_000;

/** Called for each item that the gateway took (null) or refused. */
type Tell<Item> = (item: Item, refusal: GatewayRefusal | null) => void;

/**
 * The events of one producer on one channel. They are numbered `<producer>.<n>`, with n rising by 1 from 1, and sent in batches that the
 * gateway takes as a whole or not at all. Only one call of the function may run at a time. It rejects when the gateway is unavailable or
 * refuses the producer: then nothing was told of the items that it did not answer.
 *
 * A batch whose answer was lost is sent again under its numbers before anything else. An item that its caller sends again is part of
 * it, and is not sent twice.
 */
export function numberEvents<Item extends { readonly message: string }>(
  post: (events: readonly string[]) => Promise<unknown>,
) {
  let producer = crypto.randomUUID();
  let count = 0;
  let lost: readonly string[] = [];
  /** Messages that the gateway took when they were sent again, and that their callers do not know of. */
  let found: string[] = [];
  let foundAtMs = 0;

  return async (items: readonly Item[], tell: Tell<Item>): Promise<void> => {
    if (lost.length > 0) await sendLost();
    if (Date.now() - foundAtMs > repeatsMs) found = [];
    const unsent: Item[] = [];
    for (const item of items) {
      if (found.length > 0 && isFound(item.message)) tell(item, null);
      else unsent.push(item);
    }
    await sendAll(unsent, tell);
  };

  function isFound(message: string): boolean {
    const place = found.indexOf(message);
    if (place !== -1) found.splice(place, 1);
    return place !== -1;
  }

  async function sendLost(): Promise<void> {
    const messages = lost;
    try {
      await sendBatch(messages);
      found = [...messages];
      foundAtMs = Date.now();
    } catch (error) {
      // Refused, so none of it was taken: what its callers send again is new.
      if (lost.length > 0) throw error;
    }
  }

  /** Sends what is too large or refused in halves, so that only the item that the gateway refuses is lost. */
  async function sendAll(items: readonly Item[], tell: Tell<Item>): Promise<void> {
    const messages = items.map(({ message }) => message);
    const [first, second] = items;
    if (first === undefined) return;
    try {
      if (second !== undefined && isTooLarge(messages)) throw new GatewayRefusal(413, "The batch is too large");
      await sendBatch(messages);
      for (const item of items) tell(item, null);
    } catch (error) {
      if (!(error instanceof GatewayRefusal && refusalsOfEvents.includes(error.httpStatus))) throw error;
      if (second === undefined) return tell(first, error);
      const half = Math.ceil(items.length / 2);
      await sendAll(items.slice(0, half), tell);
      await sendAll(items.slice(half), tell);
    }
  }

  async function sendBatch(messages: readonly string[]): Promise<void> {
    try {
      await post(messages.map((message, index) => withDeliveryId(message, `${producer}.${count + index + 1}`)));
      count += messages.length;
      lost = [];
    } catch (error) {
      const isRefused = error instanceof GatewayRefusal && error.httpStatus < 500;
      lost = isRefused ? [] : messages;
      // A database that was restored from a backup lacks numbers that it had: the numbers begin anew.
      if (isRefused && error.httpStatus === 409) [producer, count] = [crypto.randomUUID(), 0];
      throw error;
    }
  }
}

/** The gateway does not take this body, whenever it is sent; it may take another. */
const refusalsOfEvents: readonly number[] = [413, 422];

function isTooLarge(messages: readonly string[]): boolean {
  return messages.length > maxBatchEvents || isLongerThan(messages.join(""), maxBatchBytes);
}
