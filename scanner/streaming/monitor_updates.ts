import type { StatusCounts } from "../../shared/report.ts";
import type { MonitorUpdate } from "../../shared/schemas/monitor_requests.ts";
import { toLine } from "../../shared/text.ts";

export interface PollResult {
  /** RFC 3339: when the provider last answered; null: not yet. */
  readonly at: string | null;
  /** How far behind the org's log the verdicts are; null when it is not known. */
  readonly lagSeconds: number | null;
  /** Counts of checks. */
  readonly counts: StatusCounts;
  readonly logStatus: NonNullable<MonitorUpdate["log_status"]>;
  /** Null when nothing is wrong. */
  readonly error: PollError | null;
}

export interface PollError {
  readonly code: string;
  readonly detail: string;
  /** Between which times the log could not be read, as RFC 3339. */
  readonly gap?: { readonly from: string; readonly to: string };
}

/** Bounds of the gateway's fields, in characters. */
const maxCodeChars = 100;
const maxTextChars = 2048;

/** Part of an update that is sent at once when it changes; the rest waits for the heartbeat. */
export function stateOf({
  pass,
  fail,
  manual,
  not_applicable,
  log_status,
  error_code,
  error_detail,
}: MonitorUpdate): string {
  return JSON.stringify([pass, fail, manual, not_applicable, log_status, error_code, error_detail]);
}

export function toUpdate({ at, lagSeconds, counts, logStatus, error }: PollResult): MonitorUpdate {
  return {
    last_look_at: at,
    lag_seconds: lagSeconds,
    ...counts,
    log_status: logStatus,
    error_code: error === null ? null : toLine(error.code, maxCodeChars),
    error_detail: error === null ? null : toLine(error.detail, maxTextChars),
    ...(error?.gap === undefined ? {} : { gap_from: error.gap.from, gap_to: error.gap.to }),
  };
}

export function toEnded(reason: string): MonitorUpdate {
  return { status: "ended", error_detail: toLine(reason, maxTextChars) };
}
