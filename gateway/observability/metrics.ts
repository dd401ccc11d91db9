import type { StreamMetrics } from "./stream_metrics.ts";

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
