import type { WatchLine } from "../../shared/schemas/history.ts";
import { longestSilenceMs } from "../../shared/schemas/monitor.ts";

/** Limits the time that the file lacks when the process is killed, or when somebody reads the file while it runs. */
const longestSpanMs = 600_000;

type Span = Omit<WatchLine, "org_url" | "monitor_id">;

/**
 * The time in which the log was read, as lines: at each gap, every ten minutes, and at the end. A poll that is late by no more than a
 * gateway waits before it calls a monitor stale is not a gap.
 */
export function createWatchedTime(intervalMs: number, write: (span: Span) => void) {
  const maxPauseMs = longestSilenceMs(intervalMs / 1000);
  let span: { from: number; to: number; readonly isContinued: boolean } | null = null;
  return { polled, end };

  /** After each poll: `readMs` is when the log was last read to its end; null: it never was. */
  function polled(readMs: number | null, nowMs: number): void {
    const pauseMs = (readMs ?? nowMs) - (span?.to ?? nowMs);
    // A clock that was set back begins another time.
    if (pauseMs > maxPauseMs || (readMs !== null && pauseMs < 0)) end();
    if (readMs === null) return;
    span ??= { from: readMs, to: readMs, isContinued: false };
    span.to = Math.max(span.to, readMs);
    if (span.to - span.from < longestSpanMs) return;
    const { to } = span;
    end();
    span = { from: to, to, isContinued: true };
  }

  /** Ends the span: the time that follows is not known to follow on it. */
  function end(): void {
    const ended = span;
    span = null;
    if (ended === null || (ended.isContinued && ended.from === ended.to)) return;
    const [from, to] = [new Date(ended.from).toISOString(), new Date(ended.to).toISOString()];
    write({ schema: "scanstream.watch/1", from, to });
  }
}
