import type { MessagePublisher } from "../../shared/broker.ts";
import { withDeliveryId } from "../../shared/event.ts";
import { pause } from "../../shared/abortable.ts";

/** Sends one producer's events to the broker in order, and retries each until the broker has accepted it. */
export interface EventQueue extends MessagePublisher {
  /** Queues the event and resolves at once; over the bound it is dropped and counted. */
  publish(channel: string, message: string): Promise<void>;
  /** How many events were dropped so far. */
  readonly droppedCount: number;
  /** Resolves when the queue is empty, or when the signal aborts: what is still queued then is dropped. */
  drained(signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface EventQueueOptions {
  readonly broker: MessagePublisher;
  /** The prefix of its events' delivery ids, `[A-Za-z0-9_-]{1,64}`. */
  readonly producerId: string;
  /** Called with each failure before its retry, and with the number of failures in a row. */
  readonly onFailure: (error: unknown, failures: number) => void;
}

interface QueuedEvent {
  readonly channel: string;
  readonly message: string;
}

/** For a kilobyte or so each. */
const maxQueued = 10_000;
const maxBatch = 500;
/** After this many an event is dropped, so that it does not hold up all that come after it. */
const maxFailuresInRow = 6;
const retryDelaysMs = [250, 1000, 2000, 4000] as const;

/** The backoff after this many failures in a row, from 1 on. */
export function retryDelayMs(failures: number): number {
  return retryDelaysMs[Math.min(failures, retryDelaysMs.length) - 1] ?? 0;
}

/**
 * A publish whose response was lost is retried with the same delivery id, so that every subscriber receives it once. Of a
 * batch that failed in part, everything from the first failure on is retried, in order.
 */
export function createEventQueue({ broker, producerId, onFailure }: EventQueueOptions): EventQueue {
  const closing = new AbortController();
  const onDrained = new Set<() => void>();
  let queue: QueuedEvent[] = [];
  let count = 0;
  let droppedCount = 0;
  let isSending = false;

  return {
    get droppedCount() {
      return droppedCount;
    },
    async publish(channel, message) {
      if (closing.signal.aborted) return;
      if (queue.length >= maxQueued) {
        droppedCount += 1;
        return;
      }
      count += 1;
      queue.push({ channel, message: withDeliveryId(message, `${producerId}.${count}`) });
      if (!isSending) void sendAll();
    },
    async drained(signal) {
      if (isSending) {
        await new Promise<void>((resolve) => {
          onDrained.add(resolve);
          signal.addEventListener("abort", () => resolve(), { once: true });
          if (signal.aborted) resolve();
        });
      }
      droppedCount += queue.length;
      queue = [];
    },
    close: () => closing.abort(),
  };

  /** Never rejects: every failure goes to `onFailure`. */
  async function sendAll(): Promise<void> {
    isSending = true;
    let failures = 0;
    // Events that are published in this turn go into one batch.
    await Promise.resolve();
    while (queue.length > 0 && !closing.signal.aborted) {
      const batch = queue.slice(0, maxBatch);
      const results = await Promise.allSettled(batch.map(({ channel, message }) => broker.publish(channel, message)));
      const failed = results.findIndex(({ status }) => status === "rejected");
      queue = queue.slice(failed === -1 ? batch.length : failed);
      if (failed === -1) {
        failures = 0;
        continue;
      }
      failures = failed === 0 ? failures + 1 : 1;
      const failure = results[failed];
      onFailure(failure?.status === "rejected" ? failure.reason : null, failures);
      if (failures >= maxFailuresInRow && queue.length > 0) {
        queue = queue.slice(1);
        droppedCount += 1;
      }
      await pause(retryDelayMs(failures), [closing.signal]);
    }
    isSending = false;
    for (const resolve of onDrained) resolve();
    onDrained.clear();
  }
}
