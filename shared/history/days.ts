import type { HistoryDay } from "../schemas/history.ts";
import { rankOf, type Span } from "./observation.ts";
import { readableOf, type Segment } from "./timeline.ts";

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
