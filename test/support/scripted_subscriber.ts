import type { LostReason, Subscriber, SubscriptionHandlers } from "../../shared/broker.ts";
import { encodeEvent, toMessage, type EventPayload } from "../../shared/event.ts";

/** One subscription as the broker sees it, controlled by the test. */
export interface ScriptedSubscription {
  readonly channel: string;
  readonly signal: AbortSignal;
  confirm(): void;
  refuse(error: unknown): void;
  lose(reason: LostReason): void;
  /** Delivers any text, as a broker with foreign publishers would. */
  message(text: string): void;
}

export interface ScriptedSubscriber extends Subscriber {
  /** Every subscription ever requested, oldest first. */
  readonly subscriptions: readonly ScriptedSubscription[];
  /** The newest of a channel. */
  newest(channel: string): ScriptedSubscription;
  /** To every subscription of the channel that is confirmed and not over. */
  publish(channel: string, type: string, payload: EventPayload): void;
}

/** A broker whose every reply is scripted by the test; with `confirms: "at once"` all but the confirmations. */
export function createScriptedSubscriber(options: { readonly confirms: "at once" | "by script" }): ScriptedSubscriber {
  const subscriptions: (ScriptedSubscription & { isLive: boolean })[] = [];

  return {
    subscriptions,

    newest(channel) {
      const found = subscriptions.findLast((subscription) => subscription.channel === channel);
      if (found === undefined) throw new Error(`No subscription to ${channel}`);
      return found;
    },

    publish(channel, type, payload) {
      const text = toMessage(encodeEvent(type, payload));
      for (const subscription of subscriptions) {
        if (subscription.channel === channel && subscription.isLive) subscription.message(text);
      }
    },

    subscribe(channel, handlers, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const subscription = createSubscription({ channel, handlers, signal, resolve, reject });
      subscriptions.push(subscription);
      signal.addEventListener("abort", () => {
        subscription.isLive = false;
        reject(signal.reason);
      });
      if (options.confirms === "at once") subscription.confirm();
      return promise;
    },
  };
}

interface Subscribing {
  readonly channel: string;
  readonly handlers: SubscriptionHandlers;
  readonly signal: AbortSignal;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

function createSubscription({ channel, handlers, signal, resolve, reject }: Subscribing) {
  return {
    channel,
    signal,
    isLive: false,
    confirm() {
      this.isLive = true;
      resolve();
    },
    refuse: reject,
    lose(reason: LostReason) {
      this.isLive = false;
      handlers.onLost(reason);
    },
    message(text: string) {
      handlers.onMessage(text);
    },
  };
}
