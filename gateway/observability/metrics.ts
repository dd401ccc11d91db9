const closeReasons = ["expired", "revoked", "slow", "lost", "lifetime", "drain", "ended"] as const;

/** Why the gateway closed a stream; written on the stream as `: close <reason>`. */
export type CloseReason = (typeof closeReasons)[number];

export type CounterTexts = readonly [help: string, label?: string, values?: readonly string[]];

export const counters = {
  streams_opened: ["Event streams that were opened"],
  // "gone": the client left.
  streams_closed: ["Event streams that ended, by reason", "reason", ["gone", ...closeReasons]],
  streams_refused: ["Event streams that were refused, by code", "code", ["too_many", "unavailable"]],
  events_delivered: ["Events handed to streams: one for each stream"],
  event_bytes_delivered: ["Bytes of events handed to streams"],
  broker_messages_dropped: ["Broker messages that could not be read or are too large"],
  // "refused": the broker did not confirm.
  broker_subscriptions_lost: [
    "Broker subscriptions that were lost, by reason",
    "reason",
    ["ended", "cut", "silent", "garbage", "refused"],
  ],
  authority_rechecks_failed: ["Rechecks of authority that the database did not answer"],
  events_published: ["Events published over HTTP, by what the broker did", "outcome", ["taken", "unavailable"]],
} as const;

type Counters = typeof counters;
type ValueOf<Counter> = Counter extends readonly [string, string, readonly (infer Value)[]] ? Value : null;

/** Adds to a counter; `value` is its label's. Called on the hot path: implementations only add. */
export type Count = <Name extends keyof Counters>(name: Name, value: ValueOf<Counters[Name]>, by?: number) => void;

/** Counts of the gateway about itself. None keeps a tenant, a user or a URL. */
export interface Metrics {
  readonly count: Count;
  /**
   * `route` is a template like `/api/v1/scans/:id`, so that the number of series is bounded. The seconds are those until the head of
   * the answer: a stream goes on after that.
   */
  requestAnswered(request: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly seconds: number;
  }): void;
}

/** `/metrics` as text; null where a runtime has none. */
export interface MetricsText {
  read(): Promise<{ readonly body: string; readonly contentType: string }>;
}

export const noCount: Count = () => {};
export const noMetrics: Metrics = { count: noCount, requestAnswered() {} };
