import type { LostReason, Subscriber, SubscriptionHandlers } from "../broker.ts";
import { unavailable } from "./unavailable.ts";

/** What the broker's side of one channel tells; nothing is told after `onLost` or `close`. */
export interface ChannelListener {
  onMessage(message: string): void;
  onLost(reason: LostReason): void;
}

/** The broker's side of one channel. */
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
 * the first until the last leaves. What every adapter has in common, so that each only opens and closes channels.
 */
export function createSharedSubscriptions(openChannel: OpenChannel): SharedSubscriptions {
  const channels = new Map<string, SharedChannel>();
  let isClosed = false;

  return {
    async subscribe(names, handlers, signal) {
      signal.throwIfAborted();
      if (isClosed) throw unavailable("Cannot subscribe: the broker is closed", { secrets: [] });
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
      channel = new SharedChannel(name, openChannel, (over) => {
        // The name may have been opened anew since.
        if (channels.get(name) === over) channels.delete(name);
      });
      channels.set(name, channel);
    }
    return channel.join(subscription);
  }
}

/** One channel of the broker and all who listen to it here. */
class SharedChannel {
  readonly #name: string;
  readonly #source: ChannelSource;
  readonly #onOver: (channel: SharedChannel) => void;
  readonly #subscriptions = new Set<Subscription>();
  #isOver = false;

  constructor(name: string, openChannel: OpenChannel, onOver: (channel: SharedChannel) => void) {
    this.#name = name;
    this.#onOver = onOver;
    this.#source = openChannel(name, {
      onMessage: (message) => this.#deliver(message),
      onLost: (reason) => this.#lose(reason),
    });
    this.#source.confirmed.catch(() => this.#end());
  }

  join(subscription: Subscription): Promise<void> {
    this.#subscriptions.add(subscription);
    subscription.onLeave(() => {
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
    if (this.#isOver) return;
    // A copy: who joins while the message is being handed out did not subscribe before it was published.
    for (const subscription of Array.from(this.#subscriptions)) subscription.deliver(this.#name, message);
  }

  #lose(reason: LostReason): void {
    this.#end();
    for (const subscription of Array.from(this.#subscriptions)) subscription.lose(reason);
  }

  /** Idempotent: leaving, losing and failing meet here. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver(this);
    this.#source.close();
  }
}

/** One call of `subscribe`: `opening`, then `open`, then over; it may be over before it opens. */
class Subscription {
  readonly #handlers: SubscriptionHandlers;
  readonly #signal: AbortSignal;
  readonly #opened = Promise.withResolvers<void>();
  readonly #leaving: (() => void)[] = [];
  #state: "opening" | "open" | "over" = "opening";
  #wasLost = false;

  constructor(handlers: SubscriptionHandlers, signal: AbortSignal) {
    this.#handlers = handlers;
    this.#signal = signal;
  }

  onLeave(leave: () => void): void {
    this.#leaving.push(leave);
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
    // The signal decides, not our own listener on it: whoever aborts must hear nothing from that moment on.
    if (this.#state === "over" || this.#signal.aborted) return;
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
    if (this.#state === "over") return;
    if (this.#state === "opening") {
      // The confirmations still under way say why; one that had come before the loss does not count.
      this.#wasLost = true;
      return;
    }
    this.#end();
    // Only after every channel of a lost connection is marked: who subscribes anew in `onLost` must not join a dead one.
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
    if (this.#state === "over") return;
    this.#state = "over";
    this.#signal.removeEventListener("abort", this.#abort);
    for (const leave of this.#leaving) leave();
  }
}
