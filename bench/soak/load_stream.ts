import { subscribe } from "../../shared/client/subscribe.ts";
import type { SubscribeError } from "../../shared/client/subscribe_error.ts";
import type { ProducedScan } from "./producer.ts";

/** Counts of the streams of a soak. */
export interface Tally {
  opened: number;
  events: number;
  /** Events that a stream did not receive while it was open. */
  lost: number;
  /** Events that came twice or out of order. */
  repeated: number;
  /** Refusals by status and the gateway's words. */
  readonly refused: Record<string, number>;
  /** An opening, or an open stream, that failed without an answer: `unreachable`, `timeout`, `cut`, `silent`, … */
  readonly failed: Record<string, number>;
  /** The reason that the gateway gave. */
  readonly closed: Record<string, number>;
}

export function createTally(): Tally {
  return { opened: 0, events: 0, lost: 0, repeated: 0, refused: {}, failed: {}, closed: {} };
}

/** One stream, over its reconnects. */
export interface LoadStream {
  /** Resolves when the first request was answered, or failed. */
  readonly answered: Promise<void>;
  readonly isOpen: boolean;
  /** It has received everything that was published while it was open. */
  readonly isComplete: boolean;
  /** Closes it and counts what is missing at its end. */
  close(): Promise<void>;
}

export interface LoadStreamOptions {
  readonly url: URL;
  readonly apiKey: string;
  readonly tally: Tally;
  /** Its events are 1, 2, 3, … Null: no event is counted. */
  readonly published: ProducedScan | null;
}

export function openLoadStream({ url, apiKey, tally, published }: LoadStreamOptions): LoadStream {
  const answered = Promise.withResolvers<void>();
  const last = () => published?.last() ?? 0;
  /** The least that has not been received; null before the first opening. */
  let next: number | null = null;
  /** Events that were under way when the stream was opened may still come, or not. */
  let openedAfter = 0;
  let isOpen = false;
  let lastError: SubscribeError | null = null;

  const subscription = subscribe<Record<string, Readonly<Record<string, unknown>>>>(url, {
    apiKey,
    onOpen() {
      isOpen = true;
      tally.opened += 1;
      openedAfter = last();
      next ??= openedAfter + 1;
    },
    onEvent({ type, data }) {
      tally.events += 1;
      const number = published?.numberOf(type, data) ?? null;
      if (number === null) return;
      if (next === null || (number < next && number > openedAfter)) tally.repeated += 1;
      else {
        tally.lost += Math.max(0, number - Math.max(next, openedAfter + 1));
        next = Math.max(next, number + 1);
      }
    },
    onStateChange(state, { error }) {
      if (state === "connecting") return;
      answered.resolve();
      if (state === "live") return;
      isOpen = false;
      if (state === "ended") add(tally.closed, "ended");
      // Reported before the pause and after it.
      if (error !== null && error !== lastError) count(error, tally);
      lastError = error;
    },
  });

  return {
    answered: answered.promise,
    get isOpen() {
      return isOpen;
    },
    get isComplete() {
      return published === null || (next !== null && next > last());
    },
    async close() {
      if (isOpen && published !== null && next !== null)
        tally.lost += Math.max(0, last() - Math.max(next - 1, openedAfter));
      subscription.close();
      await subscription.finished;
    },
  };
}

function count({ code, status, detail, retryAfterMs }: SubscribeError, tally: Tally): void {
  if (status !== null) add(tally.refused, `${status} ${detail}${retryAfterMs === null ? ", without Retry-After" : ""}`);
  else if (code === "closed") add(tally.closed, detail ?? "without a reason");
  else add(tally.failed, code);
}

function add(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
