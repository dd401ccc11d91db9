import type { LostReason, Subscriber } from "../broker.ts";
import { brokerClosed, unavailable } from "./unavailable.ts";

/** Receives what arrives on one channel of the broker; nothing is called after `onLost` or `close`. */
export interface ChannelListener {
  onMessage(message: string): void;
  onLost(reason: LostReason): void;
}

export interface ChannelSource {
  /** Resolves when the broker has confirmed the subscription; rejects with `AppError("unavailable")`. */
  readonly confirmed: Promise<void>;
  /** Ends the subscription at the broker. An unconfirmed one rejects `confirmed`, unless it still resolves. Calling it twice is fine. */
  close(): void;
}

/** Never throws: what goes wrong rejects `confirmed`. */
export type OpenChannel = (channel: string, listener: ChannelListener) => ChannelSource;

export interface Subscriptions extends Subscriber {
  /** Every subscription is lost as `ended`, and no new one is taken. */
  close(): void;
}

/** `subscribe` of every adapter, so that each only opens and closes channels. */
export function createSubscriptions(openChannel: OpenChannel): Subscriptions {
  const enders = new Set<() => void>();
  let isClosed = false;

  return {
    async subscribe(channel, handlers, signal) {
      signal.throwIfAborted();
      if (isClosed) throw brokerClosed("subscribe");
      let state = "opening" as "opening" | "lost" | "open" | "over";
      const aborted = Promise.withResolvers<never>();
      const source = openChannel(channel, {
        onMessage(message) {
          // The signal decides, not our own listener on it: nothing is handed over from the moment of the abort.
          if (state !== "over" && !signal.aborted) handlers.onMessage(message);
        },
        onLost: lose,
      });
      const end = () => lose("ended");
      enders.add(end);
      signal.addEventListener("abort", abort, { once: true });
      try {
        await Promise.race([source.confirmed, aborted.promise]);
        signal.throwIfAborted();
        if (state === "lost") throw unavailable("Cannot subscribe: the broker was lost", { secrets: [] });
        state = "open";
      } catch (error) {
        release();
        throw signal.aborted ? signal.reason : error;
      }

      function lose(reason: LostReason): void {
        if (state === "open") {
          release();
          if (!signal.aborted) handlers.onLost(reason);
        } else if (state === "opening") {
          // The confirmation gives the reason; one that had come before the loss does not count.
          state = "lost";
          source.close();
        }
      }

      function abort(): void {
        release();
        // Without effect on a subscription that was open.
        aborted.reject(signal.reason);
      }

      function release(): void {
        state = "over";
        enders.delete(end);
        signal.removeEventListener("abort", abort);
        source.close();
      }
    },

    close() {
      isClosed = true;
      for (const end of Array.from(enders)) end();
    },
  };
}
