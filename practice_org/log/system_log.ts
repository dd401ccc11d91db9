import type { LogEvent } from "./log_events.ts";

export interface LogEntry {
  readonly event: LogEvent;
  /** When the log took the event in: it orders the log, `event.published` does not. */
  readonly persistedMs: number;
  /** Position in the log, from 0, also after old entries are gone. */
  readonly position: number;
}

/** The org's System Log, in the order of persistence. Events may be persisted long after they happened, and twice. */
export interface SystemLog {
  /** Takes an event in at `persistMs`, or at once when that has passed. */
  append(event: LogEvent, persistMs: number): void;
  /** All that is persisted by `nowMs`. */
  entries(nowMs: number): readonly LogEntry[];
}

/** Kept in memory: the newest entries. */
const maxEntries = 200_000;

export function createSystemLog(): SystemLog {
  let entries: LogEntry[] = [];
  let waiting: { readonly event: LogEvent; readonly persistMs: number }[] = [];
  let nextPosition = 0;
  const persist = (event: LogEvent, persistedMs: number) => {
    entries.push({ event, persistedMs, position: nextPosition });
    nextPosition += 1;
    if (entries.length > maxEntries * 1.1) entries = entries.slice(-maxEntries);
  };
  return {
    append(event, persistMs) {
      waiting.push({ event, persistMs });
    },
    entries(nowMs) {
      if (waiting.length > 0) {
        const due = waiting.filter(({ persistMs }) => persistMs <= nowMs);
        waiting = waiting.filter(({ persistMs }) => persistMs > nowMs);
        // A stable sort: events of one moment keep the order in which they were written.
        for (const { event, persistMs } of due.toSorted((a, b) => a.persistMs - b.persistMs)) persist(event, persistMs);
      }
      return entries;
    },
  };
}
