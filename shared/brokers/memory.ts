import type { Broker } from "../broker.ts";
import { requireMessage } from "./message.ts";
import { createSharedSubscriptions, type ChannelListener } from "./shared_subscriptions.ts";
import { brokerClosed } from "./unavailable.ts";

/** A broker inside one process: the embedded default, for one gateway and what publishes in the same process. */
export function createMemoryBroker(): Broker {
  const listeners = new Map<string, ChannelListener>();
  const waiting: { readonly channel: string; readonly message: string }[] = [];
  let isDelivering = false;
  let isClosed = false;

  const subscriptions = createSharedSubscriptions((channel, listener) => {
    listeners.set(channel, listener);
    return { confirmed: Promise.resolve(), close: () => listeners.delete(channel) };
  });

  return {
    async publish(channel, message) {
      requireMessage(message);
      requireOpen("publish");
      waiting.push({ channel, message });
      deliver();
    },
    async subscribe(channels, handlers, signal) {
      await subscriptions.subscribe(channels, handlers, signal);
    },
    async ping() {
      requireOpen("ping");
    },
    async close() {
      isClosed = true;
      subscriptions.close();
    },
  };

  /** A message published during a delivery waits for its turn: else some subscribers would get it before the first one. */
  function deliver(): void {
    if (isDelivering) return;
    isDelivering = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      listeners.get(next.channel)?.onMessage(next.message);
    }
    isDelivering = false;
  }

  function requireOpen(action: string): void {
    if (isClosed) throw brokerClosed(action);
  }
}
