import type { HistoryDay } from "../schemas/history.ts";
import { rankOf, type Span } from "./source.ts";
import { knownOf, type Segment } from "./timeline.ts";

export const dayMs = 86_400_000;

export function startOfDay(time: number): number {
  return Math.floor(time / dayMs) * dayMs;
}

/** `days` UTC days that end now, today included. */
export function lastDays(days: number, now: number): Span {
  return { from: startOfDay(now) - (days - 1) * dayMs, to: now };
}

/** What was known on one UTC day. */
interface DaySeconds {
  /** `2026-11-25`. */
  readonly day: string;
  /** The segments of this day; each is cut to it. */
  readonly segments: readonly Segment[];
}

/** One entry for each UTC day that the period touches, in order. */
function splitDays(timeline: readonly Segment[], { from, to }: Span): readonly DaySeconds[] {
  const known = knownOf(timeline);
  const days: DaySeconds[] = [];
  let first = 0;
  for (let start = startOfDay(from); start < to || start === startOfDay(from); start += dayMs) {
    const period = { from: Math.max(start, from), to: Math.min(start + dayMs, to) };
    while ((known[first]?.to ?? Number.POSITIVE_INFINITY) < period.from) first += 1;
    const segments: Segment[] = [];
    for (let index = first; index < known.length; index += 1) {
      const segment = known[index];
      if (segment === undefined || segment.from > period.to) break;
      const cut = { ...segment, from: Math.max(segment.from, period.from), to: Math.min(segment.to, period.to) };
      // The first moment of a day belongs to it, and not to the day before.
      const isMoment = segment.from === segment.to && segment.from < start + dayMs;
      if (cut.to > cut.from || isMoment) segments.push(cut);
    }
    days.push({ day: new Date(start).toISOString().slice(0, 10), segments });
  }
  return days;
}

export function daysOf(timeline: readonly Segment[], period: Span): readonly HistoryDay[] {
  return splitDays(timeline, period).map(({ day, segments }) => {
    const worst = segments.toSorted((one, other) => rankOf(other.point) - rankOf(one.point))[0]?.point;
    const known_seconds = secondsOf(segments);
    if (worst === undefined) return { day, status: "UNKNOWN", known_seconds };
    const isNotApplicable = worst.reason === "not_applicable";
    return { day, status: worst.status, ...(isNotApplicable && { reason: "not_applicable" }), known_seconds };
  });
}

function secondsOf(spans: readonly Span[]): number {
  return spans.reduce((total, { from, to }) => total + (to - from), 0) / 1000;
}
