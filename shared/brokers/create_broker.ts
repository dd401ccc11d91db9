import { abortable } from "../abortable.ts";
import type { Broker, LostReason, MessagePublisher, SubscriptionHandlers } from "../broker.ts";
import { boundWaiting, pingMessage, requireMessage } from "./message.ts";
import { brokerClosed, unavailable } from "./unavailable.ts";

/** The part of a broker that differs from one to another. */
interface BrokerDriver extends MessagePublisher {
  /**
   * Subscribes to one channel of the broker. Resolves when the broker has confirmed it; rejects with `AppError("unavailable")`. `onLost` ends
   * the signal, and the signal ends the subscription at the broker. What the handlers are called with after that is dropped.
   */
  openChannel(channel: string, handlers: SubscriptionHandlers, signal: AbortSignal): Promise<void>;
  close(): void;
}

export function createBroker(driver: BrokerDriver): Broker {
  const publish = boundWaiting((channel, message) => driver.publish(channel, message));
  const closing = new AbortController();
  closing.signal.addEventListener("abort", () => driver.close());

  function requireOpen(action: string): void {
    if (closing.signal.aborted) throw brokerClosed(action);
  }

  return {
    async publish(channel, message) {
      requireMessage(message);
      requireOpen("publish");
      await publish(channel, message);
    },

    async subscribe(channel, handlers, signal) {
      signal.throwIfAborted();
      requireOpen("subscribe");
      // Aborts when the subscription is over.
      const ending = new AbortController();
      const end = () => ending.abort();
      signal.addEventListener("abort", end, { signal: ending.signal });
      closing.signal.addEventListener("abort", () => lose("ended"), { signal: ending.signal });
      let isOpen = false;
      const guarded: SubscriptionHandlers = {
        onMessage(message) {
          // The signal decides, not the listener on it: nothing is handed over from the moment of the abort.
          if (!ending.signal.aborted && !signal.aborted) handlers.onMessage(message);
        },
        onLost: lose,
      };
      try {
        await abortable(driver.openChannel(channel, guarded, ending.signal), signal);
        signal.throwIfAborted();
        // A confirmation that had come before the loss does not count.
        if (ending.signal.aborted) throw unavailable("Cannot subscribe: the broker was lost");
        isOpen = true;
      } catch (error) {
        end();
        throw error;
      }

      /** While it is opening, the confirmation gives the reason. */
      function lose(reason: LostReason): void {
        if (ending.signal.aborted) return;
        end();
        if (isOpen && !signal.aborted) handlers.onLost(reason);
      }
    },

    async ping() {
      requireOpen("ping");
      // A publish: credentials that may not use these channels are not ready, although the server answers its PING.
      await driver.publish("ping", pingMessage);
    },

    /** Every subscription is lost as `ended`. */
    close: async () => closing.abort(),
  };
}
