import type { LostReason } from "../../shared/broker.ts";

/** Counts of the gateway about itself. Implementations only add; none keeps a tenant, a user or a URL. */
export interface Metrics {
  readonly streams: StreamMetrics;
  /** `route` is a template like `/api/v1/scans/:id`, so that the number of series is bounded. */
  requestAnswered(request: AnsweredRequest): void;
  eventsPublished(outcome: "taken" | "refused" | "unavailable", count: number): void;
}

interface AnsweredRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  /** Until the head of the answer: a stream goes on after that. */
  readonly seconds: number;
}

/** `/metrics` as text; null where a runtime has none. */
export interface MetricsText {
  read(): Promise<{ readonly body: string; readonly contentType: string }>;
}

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

export const noMetrics: Metrics = { streams: noStreamMetrics, requestAnswered() {}, eventsPublished() {} };
