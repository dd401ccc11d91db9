import { AppError } from "../app_error.ts";
import type { Broker, SubscriptionHandlers } from "../broker.ts";

/** A broker inside one process: the embedded default, for one gateway and whatever publishes in the same process. */
export function createMemoryBroker(): Broker {
  const subscriptions = new Map<string, Set<SubscriptionHandlers>>();
  let isClosed = false;

  function requireOpen(): void {
    if (isClosed) throw new AppError("unavailable", "The broker is closed");
  }

  return {
    async publish(channel, message) {
      requireOpen();
      // A copy: a handler may leave while the message is being handed out.
      for (const handlers of Array.from(subscriptions.get(channel) ?? [])) handlers.onMessage(channel, message);
    },

    async subscribe(channels, handlers, signal) {
      requireOpen();
      signal.throwIfAborted();
      // An own object for each subscription, so that the same handlers may subscribe twice.
      const subscription: SubscriptionHandlers = {
        onMessage: (channel, message) => handlers.onMessage(channel, message),
        onLost: (reason) => handlers.onLost(reason),
      };
      for (const channel of channels) {
        const joined = subscriptions.get(channel) ?? new Set();
        subscriptions.set(channel, joined.add(subscription));
      }
      signal.addEventListener("abort", () => leave(channels, subscription), { once: true });
    },

    async ping() {
      requireOpen();
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      const lost = new Set([...subscriptions.values()].flatMap((joined) => [...joined]));
      subscriptions.clear();
      for (const handlers of lost) handlers.onLost("ended");
    },
  };

  function leave(channels: readonly string[], subscription: SubscriptionHandlers): void {
    for (const channel of channels) {
      const joined = subscriptions.get(channel);
      joined?.delete(subscription);
      if (joined?.size === 0) subscriptions.delete(channel);
    }
  }
}
