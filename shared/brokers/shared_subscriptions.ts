import type { LostReason, Subscriber, SubscriptionHandlers } from "../broker.ts";
import { brokerClosed, unavailable } from "./unavailable.ts";

/** Receives what arrives on one channel of the broker; nothing is called after `onLost` or `close`. */
export interface ChannelListener {
  onMessage(message: string): void;
  onLost(reason: LostReason): void;
}

export interface ChannelSource {
  /** Resolves when the broker has confirmed the subscription; rejects with `AppError("unavailable")`. */
  readonly confirmed: Promise<void>;
  /** Ends the subscription at the broker. An unconfirmed one rejects `confirmed`, unless it still resolves. */
  close(): void;
}

/** Never throws: what goes wrong rejects `confirmed`. */
export type OpenChannel = (channel: string, listener: ChannelListener) => ChannelSource;

export interface SharedSubscriptions extends Subscriber {
  /** Every subscription is lost as `ended`, and no new one is taken. */
  close(): void;
}

/**
 * Counts subscriptions by reference: however many subscribers a channel has in this process, the broker sees one, from
 * the first until the last unsubscribes. Every adapter shares this, so that each only opens and closes channels.
 */
export function createSharedSubscriptions(openChannel: OpenChannel): SharedSubscriptions {
  const channels = new Map<string, SharedChannel>();
  let isClosed = false;

  return {
    async subscribe(names, handlers, signal) {
      signal.throwIfAborted();
      if (isClosed) throw brokerClosed("subscribe");
      const subscription = new Subscription(handlers, signal);
      await subscription.untilOpen(Array.from(new Set(names), (name) => join(name, subscription)));
    },
    close() {
      isClosed = true;
      for (const channel of Array.from(channels.values())) channel.close();
    },
  };

  function join(name: string, subscription: Subscription): Promise<void> {
    let channel = channels.get(name);
    if (channel === undefined) {
      channel = new SharedChannel(name, openChannel, (ended) => {
        // The name may have been opened again since.
        if (channels.get(name) === ended) channels.delete(name);
      });
      channels.set(name, channel);
    }
    return channel.join(subscription);
  }
}

/** One channel of the broker and its subscriptions in this process. */
class SharedChannel {
  readonly #name: string;
  readonly #source: ChannelSource;
  readonly #onEnd: (channel: SharedChannel) => void;
  readonly #subscriptions = new Set<Subscription>();
  #isEnded = false;

  constructor(name: string, openChannel: OpenChannel, onEnd: (channel: SharedChannel) => void) {
    this.#name = name;
    this.#onEnd = onEnd;
    this.#source = openChannel(name, {
      onMessage: (message) => this.#deliver(message),
      onLost: (reason) => this.#lose(reason),
    });
    this.#source.confirmed.catch(() => this.#end());
  }

  join(subscription: Subscription): Promise<void> {
    this.#subscriptions.add(subscription);
    subscription.onRelease(() => {
      this.#subscriptions.delete(subscription);
      if (this.#subscriptions.size === 0) this.#end();
    });
    return this.#source.confirmed;
  }

  close(): void {
    this.#end();
    this.#lose("ended");
  }

  #deliver(message: string): void {
    if (this.#isEnded) return;
    // A copy: a subscription that joins during the delivery did not exist when the message was published.
    for (const subscription of Array.from(this.#subscriptions)) subscription.deliver(this.#name, message);
  }

  #lose(reason: LostReason): void {
    this.#end();
    for (const subscription of Array.from(this.#subscriptions)) subscription.lose(reason);
  }

  /** Idempotent: called on release, loss and failure. */
  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#onEnd(this);
    this.#source.close();
  }
}

/** One call of `subscribe`: `opening`, `open`, `ended`; it may end before it opens. */
class Subscription {
  readonly #handlers: SubscriptionHandlers;
  readonly #signal: AbortSignal;
  readonly #opened = Promise.withResolvers<void>();
  readonly #releases: (() => void)[] = [];
  #state: "opening" | "open" | "ended" = "opening";
  #wasLost = false;

  constructor(handlers: SubscriptionHandlers, signal: AbortSignal) {
    this.#handlers = handlers;
    this.#signal = signal;
  }

  onRelease(release: () => void): void {
    this.#releases.push(release);
  }

  async untilOpen(confirmed: readonly Promise<void>[]): Promise<void> {
    this.#signal.addEventListener("abort", this.#abort, { once: true });
    Promise.all(confirmed).then(
      () => this.#open(),
      (error: unknown) => this.#fail(error),
    );
    await this.#opened.promise;
  }

  deliver(channel: string, message: string): void {
    // The signal decides, not our own listener on it: nothing is handed over from the moment of the abort.
    if (this.#state === "ended" || this.#signal.aborted) return;
    try {
      this.#handlers.onMessage(channel, message);
    } catch (error) {
      // A bug of one subscriber must not cost the others the message. It still surfaces, as uncaught.
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  lose(reason: LostReason): void {
    if (this.#state === "ended") return;
    if (this.#state === "opening") {
      // The pending confirmations give the reason; one that had come before the loss does not count.
      this.#wasLost = true;
      return;
    }
    this.#end();
    // Only after every channel of a lost connection is marked: a new subscription in `onLost` must not join a dead one.
    queueMicrotask(() => {
      if (!this.#signal.aborted) this.#handlers.onLost(reason);
    });
  }

  readonly #abort = () => this.#fail(this.#signal.reason);

  #open(): void {
    if (this.#state !== "opening") return;
    if (this.#wasLost) {
      this.#fail(unavailable("Cannot subscribe: the broker was lost", { secrets: [], retryAfterSeconds: 1 }));
      return;
    }
    this.#state = "open";
    this.#opened.resolve();
  }

  #fail(reason: unknown): void {
    this.#end();
    // Without effect on a subscription that was open.
    this.#opened.reject(reason);
  }

  #end(): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#signal.removeEventListener("abort", this.#abort);
    for (const release of this.#releases) release();
  }
}
