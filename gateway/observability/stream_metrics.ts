import type { LostReason } from "../../shared/broker.ts";

export const closeReasons = ["expired", "revoked", "slow", "lost", "lifetime", "drain", "ended"] as const;

/** Why the gateway closed a stream; written on the stream as `: close <reason>`. */
export type CloseReason = (typeof closeReasons)[number];

/** Counts about streams. Called on the hot path: implementations only add. */
export interface StreamMetrics {
  opened(): void;
  /** `gone`: the client left. */
  closed(reason: CloseReason | "gone"): void;
  /** A stream was not opened because of a bound, the broker or draining. */
  refused(code: "too_many" | "unavailable"): void;
  /** Events handed to streams: one event on a channel with ten streams counts ten. */
  delivered(events: number, bytes: number): void;
  /** A broker's message that cannot be read or is over the bound; the channel's streams were closed. */
  messageDropped(): void;
  /** `refused`: the broker did not confirm. */
  subscriptionLost(reason: LostReason | "refused"): void;
  /** The authority of a tenant's streams could not be confirmed in time. */
  recheckFailed(): void;
}

export const noStreamMetrics: StreamMetrics = {
  opened() {},
  closed() {},
  refused() {},
  delivered() {},
  messageDropped() {},
  subscriptionLost() {},
  recheckFailed() {},
};
