import { createHistogram, type RecordableHistogram } from "node:perf_hooks";

/** What the streams of a soak count. They only add; the report is made at the end. */
export interface Tally {
  /** A stream was opened, so long after its request. */
  opened(ms: number): void;
  /** A stream was opened again, after so long without one. */
  reopened(ms: number): void;
  refused(refusal: Refusal): void;
  /** An opening, or an open stream, that failed without an answer: `unreachable`, `timeout`, `cut`, `silent`, … */
  failed(code: string): void;
  /** The gateway closed an open stream and said why. */
  closed(reason: string): void;
  event(): void;
  /** A counted event arrived, so long after its request was sent. */
  delivered(ms: number): void;
  /** Events that a stream did not receive while it was open. */
  lost(count: number): void;
  /** Events that passed between two openings of a stream: nothing is replayed. */
  missed(count: number): void;
  repeated(): void;
  figures(): TallyFigures;
}

export interface Refusal {
  readonly status: number;
  /** The gateway's words. */
  readonly detail: string | null;
  readonly retryAfterMs: number | null;
}

export interface TallyFigures {
  readonly opened: number;
  readonly opening_ms: Percentiles | null;
  readonly reconnects: number;
  /** How long streams that came back were away. */
  readonly away_ms: Percentiles | null;
  /** By status and words, the most frequent first. */
  readonly refused: readonly {
    readonly status: number;
    readonly detail: string | null;
    readonly count: number;
    readonly retry_after_seconds: { readonly least: number; readonly most: number } | null;
  }[];
  readonly failed: Readonly<Record<string, number>>;
  readonly closed: Readonly<Record<string, number>>;
  readonly events: number;
  readonly delivery_ms: Percentiles | null;
  readonly lost: number;
  readonly missed_while_reconnecting: number;
  readonly repeated: number;
}

export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

export function createTally(): Tally {
  const openings = createHistogram();
  const deliveries = createHistogram();
  const absences = createHistogram();
  const refusals = new Map<string, { first: Refusal; count: number; retryAfterSeconds: number[] }>();
  const failures = new Map<string, number>();
  const closings = new Map<string, number>();
  const counts = { events: 0, lost: 0, missed: 0, repeated: 0 };
  return {
    opened: (ms) => record(openings, ms),
    reopened: (ms) => record(absences, ms),
    refused(refusal) {
      const key = `${refusal.status} ${refusal.detail}`;
      const entry = refusals.get(key) ?? { first: refusal, count: 0, retryAfterSeconds: [] };
      refusals.set(key, entry);
      entry.count += 1;
      const [least = Infinity, most = -Infinity] = entry.retryAfterSeconds;
      if (refusal.retryAfterMs === null) return;
      const seconds = refusal.retryAfterMs / 1000;
      entry.retryAfterSeconds = [Math.min(least, seconds), Math.max(most, seconds)];
    },
    failed: (code) => add(failures, code),
    closed: (reason) => add(closings, reason),
    event() {
      counts.events += 1;
    },
    delivered: (ms) => record(deliveries, ms),
    lost(count) {
      counts.lost += count;
    },
    missed(count) {
      counts.missed += count;
    },
    repeated() {
      counts.repeated += 1;
    },
    figures: () => ({
      opened: openings.count,
      opening_ms: percentiles(openings),
      reconnects: absences.count,
      away_ms: percentiles(absences),
      refused: [...refusals.values()]
        .sort((one, other) => other.count - one.count)
        .map(({ first: { status, detail }, count, retryAfterSeconds: [least, most] }) => ({
          status,
          detail,
          count,
          retry_after_seconds: least === undefined || most === undefined ? null : { least, most },
        })),
      failed: Object.fromEntries(failures),
      closed: Object.fromEntries(closings),
      events: counts.events,
      delivery_ms: percentiles(deliveries),
      lost: counts.lost,
      missed_while_reconnecting: counts.missed,
      repeated: counts.repeated,
    }),
  };
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** In microseconds: a histogram takes whole numbers above 0. */
function record(histogram: RecordableHistogram, ms: number): void {
  histogram.record(Math.max(1, Math.round(ms * 1000)));
}

function percentiles(histogram: RecordableHistogram): Percentiles | null {
  if (histogram.count === 0) return null;
  const ms = (microseconds: number) => Math.round(microseconds / 10) / 100;
  const [p50, p90, p99] = [50, 90, 99].map((percentile) => ms(histogram.percentile(percentile)));
  return { p50: p50 ?? 0, p90: p90 ?? 0, p99: p99 ?? 0, max: ms(histogram.max) };
}
