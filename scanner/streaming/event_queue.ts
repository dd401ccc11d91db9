import type { Publisher } from "../../shared/broker.ts";
import { withDeliveryId } from "../../shared/event.ts";
import { pause } from "../../shared/abortable.ts";

/** Events of one producer on their way to the broker, in order, sent again until they were taken. */
export interface EventQueue extends Publisher {
  /** Takes the event over and resolves at once; over the bound it is left out and counted. */
  publish(channel: string, message: string): Promise<void>;
  /** How many events were left out so far. */
  readonly omittedCount: number;
  /** Resolves when nothing waits any more, or when the signal aborts: what still waits then is dropped. */
  drained(signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface EventQueueOptions {
  readonly publisher: Publisher;
  /** Makes the ids of this producer's events its own, `[A-Za-z0-9_-]{1,64}`. */
  readonly producerId: string;
  /** Called with each failure and how often in a row it failed; it is tried again. */
  readonly onFailure: (error: unknown, failures: number) => void;
}

interface Waiting {
  readonly channel: string;
  readonly message: string;
}

/** Events that may wait, each a kilobyte or so. */
const maxWaiting = 10_000;
const maxBatch = 500;
/** One event that is refused again and again does not hold up all that come after it. */
const maxFailuresOfOne = 6;
const retryDelaysMs = [250, 1000, 2000, 4000] as const;

/** How long to wait after so many failures in a row, from 1 on. */
export function retryDelayMs(failures: number): number {
  return retryDelaysMs[Math.min(failures, retryDelaysMs.length) - 1] ?? 0;
}

/**
 * A publish whose answer was lost is sent again with the same delivery id, so that every follower hears it once. Of a
 * batch that failed in part, everything from the first failure on is sent again, in order.
 */
export function createEventQueue({ publisher, producerId, onFailure }: EventQueueOptions): EventQueue {
  const closing = new AbortController();
  const idle = new Set<() => void>();
  let waiting: Waiting[] = [];
  let count = 0;
  let omittedCount = 0;
  let isSending = false;

  return {
    get omittedCount() {
      return omittedCount;
    },
    async publish(channel, message) {
      if (closing.signal.aborted) return;
      if (waiting.length >= maxWaiting) {
        omittedCount += 1;
        return;
      }
      count += 1;
      waiting.push({ channel, message: withDeliveryId(message, `${producerId}.${count}`) });
      if (!isSending) void sendAll();
    },
    async drained(signal) {
      if (isSending) {
        await new Promise<void>((resolve) => {
          idle.add(resolve);
          signal.addEventListener("abort", () => resolve(), { once: true });
          if (signal.aborted) resolve();
        });
      }
      omittedCount += waiting.length;
      waiting = [];
    },
    close: () => closing.abort(),
  };

  /** Never rejects: every failure goes to `onFailure`. */
  async function sendAll(): Promise<void> {
    isSending = true;
    let failures = 0;
    // What is published in this turn goes out together.
    await Promise.resolve();
    while (waiting.length > 0 && !closing.signal.aborted) {
      const batch = waiting.slice(0, maxBatch);
      const results = await Promise.allSettled(
        batch.map(({ channel, message }) => publisher.publish(channel, message)),
      );
      const failed = results.findIndex(({ status }) => status === "rejected");
      waiting = waiting.slice(failed === -1 ? batch.length : failed);
      if (failed === -1) {
        failures = 0;
        continue;
      }
      failures = failed === 0 ? failures + 1 : 1;
      const failure = results[failed];
      onFailure(failure?.status === "rejected" ? failure.reason : null, failures);
      if (failures >= maxFailuresOfOne && waiting.length > 0) {
        waiting = waiting.slice(1);
        omittedCount += 1;
      }
      await pause(retryDelayMs(failures), [closing.signal]);
    }
    isSending = false;
    for (const resolve of idle) resolve();
    idle.clear();
  }
}
