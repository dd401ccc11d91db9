import { abortable } from "../abortable.ts";
import type { LostReason, Subscriber, SubscriptionHandlers } from "../broker.ts";
import { brokerClosed, unavailable } from "./unavailable.ts";

/**
 * Subscribes to one channel of the broker. Resolves when the broker has confirmed it; rejects with `AppError("unavailable")`, also when
 * the signal aborts first. The signal ends the subscription at the broker; no handler is called after it, or after `onLost`.
 */
export type OpenChannel = (channel: string, handlers: SubscriptionHandlers, signal: AbortSignal) => Promise<void>;

export interface Subscriptions extends Subscriber {
  /** Every subscription is lost as `ended`, and no new one is taken. */
  close(): void;
}

/** `subscribe` of every adapter, so that each only opens channels. */
export function createSubscriptions(openChannel: OpenChannel): Subscriptions {
  const enders = new Set<() => void>();
  let isClosed = false;

  return {
    async subscribe(channel, handlers, signal) {
      signal.throwIfAborted();
      if (isClosed) throw brokerClosed("subscribe");
      let state = "opening" as "opening" | "lost" | "open" | "over";
      const ending = new AbortController();
      const end = () => lose("ended");
      enders.add(end);
      signal.addEventListener("abort", release, { once: true });
      try {
        const confirmed = openChannel(
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

    close() {
      isClosed = true;
      for (const end of Array.from(enders)) end();
    },
  };
}
