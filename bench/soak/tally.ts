/** What the streams of a soak count. They only add; the report is made at the end. */
export interface Tally {
  opened(): void;
  refused(refusal: Refusal): void;
  /** An opening, or an open stream, that failed without an answer: `unreachable`, `timeout`, `cut`, `silent`, … */
  failed(code: string): void;
  /** The gateway closed an open stream and said why. */
  closed(reason: string): void;
  event(): void;
  /** Events that a stream did not receive while it was open. */
  lost(count: number): void;
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
  /** By status and words. */
  readonly refused: readonly (Refusal & { readonly count: number })[];
  readonly failed: Readonly<Record<string, number>>;
  readonly closed: Readonly<Record<string, number>>;
  readonly events: number;
  readonly lost: number;
  readonly repeated: number;
}

export function createTally(): Tally {
  const refusals = new Map<string, Refusal & { count: number }>();
  const failures = new Map<string, number>();
  const closings = new Map<string, number>();
  const counts = { opened: 0, events: 0, lost: 0, repeated: 0 };
  return {
    opened: () => void (counts.opened += 1),
    refused(refusal) {
      // One without a time to come back stands for itself.
      const key = `${refusal.status} ${refusal.detail} ${refusal.retryAfterMs === null}`;
      const entry = refusals.get(key) ?? { ...refusal, count: 0 };
      entry.count += 1;
      refusals.set(key, entry);
    },
    failed: (code) => add(failures, code),
    closed: (reason) => add(closings, reason),
    event: () => void (counts.events += 1),
    lost: (count) => void (counts.lost += count),
    repeated: () => void (counts.repeated += 1),
    figures: () => ({
      ...counts,
      refused: [...refusals.values()],
      failed: Object.fromEntries(failures),
      closed: Object.fromEntries(closings),
    }),
  };
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
