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
    severity: timeline.at(-1)?.result.severity ?? null,
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
  const first = startOfDay(from);
  const days = Array.from({ length: Math.max(1, Math.ceil((to - first) / dayMs)) }, (_, index) => {
    return { start: first + index * dayMs, worst: null as RuleResult | null, knownMs: 0 };
  });
  for (const { from: begin, to: end, result } of readableOf(timeline)) {
    let index = Math.floor((Math.max(begin, from) - first) / dayMs);
    for (let day = days[index]; day !== undefined; day = days[++index]) {
      const lengthMs = Math.min(end, day.start + dayMs, to) - Math.max(begin, day.start, from);
      // A moment at midnight belongs to the day that begins.
      if (lengthMs < 0 || (lengthMs === 0 && begin !== end)) break;
      day.knownMs += lengthMs;
      if (day.worst === null || rankOf(result) > rankOf(day.worst)) day.worst = result;
    }
  }
  return days.map(({ start, worst, knownMs }) => ({
    day: toTime(start).slice(0, 10),
    status: worst?.status ?? "UNKNOWN",
    ...(worst?.reason === "not_applicable" && { reason: worst.reason }),
    known_seconds: knownMs / 1000,
  }));
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
  for (const { from, to, result } of untilUnseen(readableOf(timeline))) {
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

/** Segments that end where the next result may have begun: it was seen later, by a poll or by a full scan. */
function untilUnseen(segments: readonly Segment[]): readonly Segment[] {
  const begun = new Set<RuleResult>();
  return segments.map((segment, index) => {
    const next = segments[index + 1];
    begun.add(segment.result);
    if (next === undefined || begun.has(next.result)) return segment;
    const until = Math.min(segment.to, next.from - (next.result.unseenMs ?? 0));
    return { ...segment, to: Math.max(segment.from, until) };
  });
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
