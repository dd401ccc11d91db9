import type { LogEvent } from "./log_events.ts";

export interface LogEntry {
  readonly event: LogEvent;
  /** When the log took the event in: it orders the log, `event.published` does not. */
  readonly persistedMs: number;
  /** Position in the log, from 0, also after old entries are gone. */
  readonly position: number;
}

/** The org's System Log, in the order of persistence. */
export interface SystemLog {
  append(event: LogEvent, persistedMs: number): void;
  entries(): readonly LogEntry[];
}

/** Kept in memory: the newest entries. */
const maxEntries = 200_000;

export function createSystemLog(): SystemLog {
  let entries: LogEntry[] = [];
  let nextPosition = 0;
  return {
    append(event, persistedMs) {
      entries.push({ event, persistedMs, position: nextPosition });
      nextPosition += 1;
      if (entries.length > maxEntries * 1.1) entries = entries.slice(-maxEntries);
    },
    entries: () => entries,
  };
}
