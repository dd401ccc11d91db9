import { tooManyWaiting } from "./unavailable.ts";

export interface SendQueueOptions<Item> {
  /**
   * Sends in order and gives for each item its failure, or null. When it rejects, its items and all that wait behind them
   * are rejected alike: the broker is unavailable for each of them.
   */
  readonly send: (items: readonly Item[]) => Promise<readonly (Error | null)[]>;
  readonly sizeOf: (item: Item) => number;
  /** Items go out together up to this size; a larger one goes alone. */
  readonly maxBatchSize: number;
  /** Over this size of waiting items, a new one is refused. */
  readonly maxWaitingSize: number;
}

export interface SendQueue<Item> {
  /** Resolves when the item was sent. */
  push(item: Item): Promise<void>;
  isIdle(): boolean;
}

interface Waiting<Item> {
  readonly item: Item;
  resolve(): void;
  reject(reason: unknown): void;
}

/**
 * Keeps the order of one publisher over HTTP, where two concurrent requests may overtake each other: one request is in
 * flight, and items pushed in the meantime go together in the next.
 */
export function createSendQueue<Item>(options: SendQueueOptions<Item>): SendQueue<Item> {
  let waiting: Waiting<Item>[] = [];
  let waitingSize = 0;
  let isSending = false;

  return {
    async push(item) {
      const size = options.sizeOf(item);
      if (waiting.length > 0 && waitingSize + size > options.maxWaitingSize) {
        throw tooManyWaiting();
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.push({ item, resolve, reject });
      waitingSize += size;
      if (!isSending) {
        isSending = true;
        // A microtask later, so that what is published in one turn goes out together.
        queueMicrotask(() => void sendAll());
      }
      await promise;
    },
    isIdle: () => !isSending,
  };

  /** Never rejects: each failure rejects the `push` of its item. */
  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = takeBatch();
      try {
        acknowledge(batch, await options.send(batch.map(({ item }) => item)));
      } catch (error) {
        for (const entry of [...batch, ...waiting]) entry.reject(error);
        waiting = [];
        waitingSize = 0;
      }
    }
    isSending = false;
  }

  function takeBatch(): readonly Waiting<Item>[] {
    let size = 0;
    const tooMany = waiting.findIndex(({ item }, index) => {
      size += options.sizeOf(item);
      return index > 0 && size > options.maxBatchSize;
    });
    const batch = waiting.splice(0, tooMany === -1 ? waiting.length : tooMany);
    for (const { item } of batch) waitingSize -= options.sizeOf(item);
    return batch;
  }

  function acknowledge(batch: readonly Waiting<Item>[], failures: readonly (Error | null)[]): void {
    for (const [index, entry] of batch.entries()) {
      const failure = failures[index];
      if (failure === null || failure === undefined) entry.resolve();
      else entry.reject(failure);
    }
  }
}
