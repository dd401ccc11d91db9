import { isHolding } from "../rule_result.ts";
import type { Exposure, HistoryDay, RuleHistory } from "../schemas/history.ts";
import { rankOf, type RuleResult, type RunObservation, type Span } from "./observation.ts";
import { intervalsOf, readableOf, timelineOf, type Segment } from "./timeline.ts";

export interface RuleHistoryInput {
  readonly check: string;
  readonly vulnId: string | null;
  /** Observations of every run that saw the organization until the end of the period. */
  readonly observations: readonly RunObservation[];
  /** `to` is now, unless only the past is shown. */
  readonly period: Span;
}

/** The history of one rule: the same for the same observations, in any order, at the gateway and without one. */
export function ruleHistoryOf({ check, vulnId, observations, period }: RuleHistoryInput): RuleHistory {
  const timeline = timelineOf(check, observations);
  return {
    check,
    vuln_id: vulnId,
    intervals: intervalsOf(timeline, period),
    exposures: exposuresOf(timeline, period),
    days: daysOf(timeline, period),
  };
}

export const dayMs = 86_400_000;

export function startOfDay(time: number): number {
  return Math.floor(time / dayMs) * dayMs;
}

/** `days` UTC days that end now, today included. */
export function lastDays(days: number, now: number): Span {
  return { from: startOfDay(now) - (days - 1) * dayMs, to: now };
}

/** One entry for each UTC day that the period touches, in order: the worst that was known on it. */
export function daysOf(timeline: readonly Segment[], { from, to }: Span): readonly HistoryDay[] {
  const readable = readableOf(timeline);
  const days: HistoryDay[] = [];
  let first = 0;
  for (let start = startOfDay(from); start < to || start === startOfDay(from); start += dayMs) {
    const period = { from: Math.max(start, from), to: Math.min(start + dayMs, to) };
    while ((readable[first]?.to ?? Number.POSITIVE_INFINITY) < period.from) first += 1;
    let worst: Segment | null = null;
    let knownMs = 0;
    for (let index = first; index < readable.length; index += 1) {
      const segment = readable[index];
      if (segment === undefined || segment.from > period.to) break;
      const lengthMs = Math.min(segment.to, period.to) - Math.max(segment.from, period.from);
      // The first moment of a day belongs to it, and not to the day before.
      const isMoment = segment.from === segment.to && segment.from < start + dayMs;
      if (lengthMs <= 0 && !isMoment) continue;
      knownMs += lengthMs;
      if (worst === null || rankOf(segment.result) > rankOf(worst.result)) worst = segment;
    }
    days.push(toDay(new Date(start).toISOString().slice(0, 10), worst, knownMs / 1000));
  }
  return days;
}

function toDay(day: string, worst: Segment | null, known_seconds: number): HistoryDay {
  if (worst === null) return { day, status: "UNKNOWN", known_seconds };
  const { status, reason } = worst.result;
  return { day, status, ...(reason === "not_applicable" && { reason }), known_seconds };
}

interface OpenExposure {
  readonly notBefore: number | null;
  readonly knownAt: number;
  readonly by: RuleResult;
  failedMs: number;
  /** The end of the last known FAIL. */
  failedUntil: number;
}

/**
 * The times in which a rule was FAIL, in order: from the first known FAIL until nothing speaks against it any more. Those that the period
 * does not touch are left out. An exposure that is open lasts until the end of the period.
 */
export function exposuresOf(timeline: readonly Segment[], period: Span): readonly Exposure[] {
  const exposures: { readonly exposure: Exposure; readonly until: number }[] = [];
  let open: OpenExposure | null = null;
  let knownUntil: number | null = null;
  for (const { from, to, result } of readableOf(timeline)) {
    if (from > period.to) break;
    const end = Math.min(to, period.to);
    if (result.status === "FAIL") {
      open ??= { notBefore: knownUntil, knownAt: from, by: result, failedMs: 0, failedUntil: from };
      open.failedMs += end - from;
      open.failedUntil = end;
    } else if (open !== null && isHolding(result)) {
      const closed = { not_before: toTime(open.failedUntil), known_at: toTime(from), actor: result.actor ?? null };
      exposures.push({ exposure: toExposure(open, closed, from), until: from });
      open = null;
    }
    knownUntil = end;
  }
  if (open !== null) exposures.push({ exposure: toExposure(open, null, period.to), until: period.to });
  return exposures.filter(({ until }) => until >= period.from).map(({ exposure }) => exposure);
}

function toExposure(open: OpenExposure, closed: Exposure["closed"], until: number): Exposure {
  const { notBefore, knownAt, by, failedMs } = open;
  return {
    opened: { not_before: notBefore === null ? null : toTime(notBefore), known_at: toTime(knownAt) },
    closed,
    actor: by.actor ?? null,
    cause: by.cause,
    least_seconds: failedMs / 1000,
    most_seconds: notBefore === null ? null : (until - notBefore) / 1000,
  };
}

export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
