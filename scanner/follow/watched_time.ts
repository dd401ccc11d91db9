import type { WatchLine } from "../../shared/schemas/history.ts";
import { longestSilenceMs } from "../../shared/schemas/monitor.ts";

const hourMs = 3_600_000;

type Span = Omit<WatchLine, "org_url" | "monitor_id">;

/**
 * The time in which the log was read, as lines: at each gap, each hour, and at the end. A poll that is late by no more than a
 * gateway waits before it calls a monitor stale is not a gap.
 */
export class WatchedTime {
  readonly #write: (span: Span) => void;
  readonly #maxPauseMs: number;
  #span: { from: number; to: number; readonly isContinued: boolean } | null = null;

  constructor(intervalMs: number, write: (span: Span) => void) {
    this.#maxPauseMs = longestSilenceMs(intervalMs / 1000);
    this.#write = write;
  }

  /** After each poll: `readMs` is when the log was last read to its end; null: it never was. */
  polled(readMs: number | null, nowMs: number): void {
    const pauseMs = (readMs ?? nowMs) - (this.#span?.to ?? nowMs);
    // A clock that was set back begins another time.
    if (pauseMs > this.#maxPauseMs || (readMs !== null && pauseMs < 0)) this.end();
    if (readMs === null) return;
    this.#span ??= { from: readMs, to: readMs, isContinued: false };
    this.#span.to = Math.max(this.#span.to, readMs);
    if (this.#span.to - this.#span.from < hourMs) return;
    const { to } = this.#span;
    this.end();
    this.#span = { from: to, to, isContinued: true };
  }

  /** Ends the span: the time that follows is not known to follow on it. */
  end(): void {
    const span = this.#span;
    this.#span = null;
    if (span === null || (span.isContinued && span.from === span.to)) return;
    const [from, to] = [new Date(span.from).toISOString(), new Date(span.to).toISOString()];
    this.#write({ schema: "scanstream.watch/1", from, to });
  }
}
