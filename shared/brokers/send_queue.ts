import type { Message } from "../event.ts";

/** A message, and the promise of its publisher. */
export interface QueuedMessage extends Message, Pick<PromiseWithResolvers<void>, "resolve" | "reject"> {}

export type SendQueue = ReturnType<typeof createSendQueue>;

/** Messages go out together up to this length; a longer one goes alone. */
const maxBatchChars = 1_000_000;

/**
 * Keeps the order of one publisher over HTTP, where two concurrent requests may overtake each other: one request is in
 * flight, and messages pushed in the meantime go together in the next.
 *
 * `send` settles each entry. When it rejects, the entries that it did not settle and all that wait behind them are rejected alike: the
 * broker is unavailable for each of them.
 */
export function createSendQueue(send: (entries: readonly QueuedMessage[]) => Promise<void>) {
  let waiting: QueuedMessage[] = [];
  let isSending = false;

  return {
    /** Resolves when the message was sent. */
    async push(channel: string, message: string): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.push({ channel, message, resolve, reject });
      if (!isSending) {
        isSending = true;
        // A microtask later, so that what is published in one turn goes out together.
        queueMicrotask(() => void sendAll());
      }
      await promise;
    },
    isIdle: () => !isSending,
  };

  /** Never rejects: each failure rejects the `push` of its message. */
  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = takeBatch();
      try {
        await send(batch);
      } catch (error) {
        for (const { reject } of [...batch, ...waiting]) reject(error);
        waiting = [];
      }
    }
    isSending = false;
  }

  function takeBatch(): readonly QueuedMessage[] {
    let chars = 0;
    const tooMany = waiting.findIndex(({ message }, index) => {
      chars += message.length;
      return index > 0 && chars > maxBatchChars;
    });
    return waiting.splice(0, tooMany === -1 ? waiting.length : tooMany);
  }
}
