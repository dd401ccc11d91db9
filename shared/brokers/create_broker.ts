import { abortable } from "../abortable.ts";
import type { Broker, LostReason, SubscriptionHandlers } from "../broker.ts";
import { requireMessage } from "./message.ts";
import { brokerClosed, unavailable } from "./unavailable.ts";

/**
 * Subscribes to one channel of the broker. Resolves when the broker has confirmed it; rejects with `AppError("unavailable")`, also when
 * the signal aborts first. The signal ends the subscription at the broker; no handler is called after it, or after `onLost`.
 */
export type OpenChannel = (channel: string, handlers: SubscriptionHandlers, signal: AbortSignal) => Promise<void>;

/** The part of a broker that differs from one to another. */
export interface BrokerDriver {
  publish(channel: string, message: string): Promise<void>;
  readonly openChannel: OpenChannel;
  ping(): Promise<void>;
  /** Releases every connection. */
  close(): void;
}

export function createBroker(driver: BrokerDriver): Broker {
  const enders = new Set<() => void>();
  let isClosed = false;

  function requireOpen(action: string): void {
    if (isClosed) throw brokerClosed(action);
  }

  return {
    async publish(channel, message) {
      requireMessage(message);
      requireOpen("publish");
      await driver.publish(channel, message);
    },

    async subscribe(channel, handlers, signal) {
      signal.throwIfAborted();
      requireOpen("subscribe");
      let state = "opening" as "opening" | "lost" | "open" | "over";
      const ending = new AbortController();
      const end = () => lose("ended");
      enders.add(end);
      signal.addEventListener("abort", release, { once: true });
      try {
        const confirmed = driver.openChannel(
          channel,
          {
            onMessage(message) {
              // The signal decides, not the listener on it: nothing is handed over from the moment of the abort.
              if (state !== "over" && !signal.aborted) handlers.onMessage(message);
            },
            onLost: lose,
          },
          ending.signal,
        );
        await abortable(confirmed, signal);
        signal.throwIfAborted();
        if (state === "lost") throw unavailable("Cannot subscribe: the broker was lost", { secrets: [] });
        state = "open";
      } catch (error) {
        release();
        throw error;
      }

      function lose(reason: LostReason): void {
        if (state === "open") {
          release();
          if (!signal.aborted) handlers.onLost(reason);
        } else if (state === "opening") {
          // The confirmation gives the reason; one that had come before the loss does not count.
          state = "lost";
          ending.abort();
        }
      }

      function release(): void {
        state = "over";
        enders.delete(end);
        signal.removeEventListener("abort", release);
        ending.abort();
      }
    },

    async ping() {
      requireOpen("ping");
      await driver.ping();
    },

    /** Every subscription is lost as `ended`. */
    async close() {
      isClosed = true;
      driver.close();
      for (const end of Array.from(enders)) end();
    },
  };
}
