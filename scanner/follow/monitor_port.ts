import type { StatusCounts } from "../../shared/report.ts";
import type { ChangeLine } from "./changes.ts";

/** Where a follower reports what it does. It never blocks the follower and never fails it. */
export interface MonitorPort {
  started(facts: MonitorFacts): void;
  /** The heartbeat, at every look. */
  polled(look: PollResult): void;
  /** Lines wait to be stored; the same object each time. After a restart it may hold lines that were stored before. */
  changed(lines: LinesToStore): void;
  /** The process ends; the monitor may go on later. */
  stopped(): Promise<void> | void;
  /** The monitor has done what it was asked for. */
  ended(reason: string): Promise<void> | void;
}

/** A queue: what is settled is no longer in it. */
export interface LinesToStore {
  /** The oldest. */
  first(max: number): readonly ChangeLine[];
  /** They are stored, or will never be. */
  settle(lines: readonly { readonly id: string }[]): void;
}

export interface MonitorFacts {
  readonly monitorId: string;
  /** Called once it is known there: with a new id if the previous monitor has ended. */
  readonly onRegistered: (monitorId: string) => void;
  readonly orgUrl: string;
  readonly clientId: string;
  readonly benchmark: string;
  readonly intervalSeconds: number;
  readonly checksTotal: number;
}

export interface PollResult {
  /** When the provider last answered, ISO 8601; null: not yet. */
  readonly at: string | null;
  readonly lagSeconds: number | null;
  /** For checks. */
  readonly counts: StatusCounts;
  readonly logStatus: "reading" | "unreadable" | "unknown";
  readonly error: PollError | null;
}

export interface PollError {
  readonly code: string;
  readonly detail: string;
  /** Since when and until when nothing of the log is known. */
  readonly gapFrom?: string;
  readonly gapTo?: string;
}

/** Nobody stores anything. */
export const noMonitor: MonitorPort = {
  started() {},
  polled() {},
  changed: (lines) => lines.settle(lines.first(Number.POSITIVE_INFINITY)),
  stopped() {},
  ended() {},
};
