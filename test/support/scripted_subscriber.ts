import type { LostReason, Subscriber, SubscriptionHandlers } from "../../shared/broker.ts";
import { encodeEvent, toMessage, type EventPayload } from "../../shared/event.ts";

/** A broker whose every reply is scripted by the test; with `confirms: "at once"` all but the confirmations. */
export function createScriptedSubscriber({ confirms }: { readonly confirms: "at once" | "by script" }) {
  const subscriptions: ReturnType<typeof createSubscription>[] = [];
  return {
    /** Every subscription ever requested, oldest first. */
    subscriptions: subscriptions as readonly (typeof subscriptions)[number][],

    /** The newest of a channel. */
    newest(channel: string) {
      const found = subscriptions.findLast((subscription) => subscription.channel === channel);
      if (found === undefined) throw new Error(`No subscription to ${channel}`);
      return found;
    },

    /** To every subscription of the channel that is confirmed and not over. */
    publish(channel: string, type: string, payload: EventPayload) {
      const text = toMessage(encodeEvent(type, payload));
      for (const subscription of subscriptions)
        if (subscription.channel === channel && subscription.isLive) subscription.message(text);
    },

    subscribe(channel, handlers, signal) {
      const subscription = createSubscription(channel, handlers, signal);
      subscriptions.push(subscription);
      if (confirms === "at once") subscription.confirm();
      return subscription.confirmed;
    },
  } satisfies Subscriber & Record<string, unknown>;
}

/** One subscription as the broker sees it, controlled by the test. */
function createSubscription(channel: string, handlers: SubscriptionHandlers, signal: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const subscription = {
    channel,
    signal,
    confirmed: promise,
    isLive: false,
    confirm() {
      subscription.isLive = true;
      resolve();
    },
    refuse: reject,
    lose(reason: LostReason) {
      subscription.isLive = false;
      handlers.onLost(reason);
    },
    /** Delivers any text, as a broker with foreign publishers would. */
    message: (text: string) => handlers.onMessage(text),
  };
  signal.addEventListener("abort", () => {
    subscription.isLive = false;
    reject(signal.reason);
  });
  return subscription;
}
