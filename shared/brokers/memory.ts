import type { Broker, SubscriptionHandlers } from "../broker.ts";
import type { Message } from "../event.ts";
import { createBroker } from "./create_broker.ts";

/** A broker inside one process: the embedded default, for one gateway and what publishes in the same process. */
export function createMemoryBroker(): Broker {
  const listeners = new Map<string, Set<SubscriptionHandlers>>();
  const waiting: Message[] = [];
  let isDelivering = false;

  return createBroker({
    async publish(channel, message) {
      waiting.push({ channel, message });
      deliver();
    },
    async openChannel(channel, handlers, signal) {
      const ofChannel = listeners.get(channel) ?? new Set();
      listeners.set(channel, ofChannel.add(handlers));
      signal.addEventListener("abort", () => {
        ofChannel.delete(handlers);
        if (ofChannel.size === 0 && listeners.get(channel) === ofChannel) listeners.delete(channel);
      });
    },
    close() {},
  });

  /** A message published during a delivery waits for its turn: else some subscribers would get it before the first one. */
  function deliver(): void {
    if (isDelivering) return;
    isDelivering = true;
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        // A copy: who subscribes during the delivery was not there when the message was published.
        for (const listener of Array.from(listeners.get(next.channel) ?? [])) listener.onMessage(next.message);
      }
    } finally {
      isDelivering = false;
    }
  }
}
