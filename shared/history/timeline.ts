import type { Interval } from "../schemas/history.ts";
import {
  comparePoints,
  isSameVerdict,
  isUnreadable,
  observationsOf,
  type Observation,
  type Span,
  type VerdictPoint,
  type VerdictSource,
} from "./source.ts";

/**
 * What was known of one rule, in order and without overlap: a segment for each time with one deciding verdict. A segment with
 * equal times is a verdict that was known at that moment only. Time between segments is unknown.
 */
export interface Segment extends Span {
  /** What decided it. Its own time may be earlier. */
  readonly point: VerdictPoint;
  /** The scan or monitor that decided it. */
  readonly sourceId: string;
}

/** The order of the sources does not matter. */
export function timelineOf(sources: readonly VerdictSource[]): readonly Segment[] {
  const observations = sources.flatMap(observationsOf).toSorted((one, other) => one.from - other.from);
  const times = [...new Set(observations.flatMap(({ from, to }) => [from, to]))].sort((one, other) => one - other);
  const segments: Segment[] = [];
  let active: readonly Observation[] = [];
  let next = 0;
  for (const [index, time] of times.entries()) {
    const begun: Observation[] = [];
    for (; observations[next]?.from === time; next += 1) {
      const observation = observations[next];
      if (observation !== undefined) begun.push(observation);
    }
    active = [...active.filter(({ to }) => to > time), ...begun.filter(({ to }) => to > time)];
    const moment = decide([...active, ...begun.filter(({ to }) => to === time)]);
    const lasting = decide(active);
    const end = times[index + 1];
    if (moment !== null && moment !== lasting) append(segments, toSegment(moment, time, time));
    if (lasting !== null && end !== undefined) append(segments, toSegment(lasting, time, end));
  }
  return segments;
}

function toSegment({ point, sourceId }: Observation, from: number, to: number): Segment {
  return { from, to, point, sourceId };
}

/** A segment that goes on with the same verdict of the same source is one with the segment before it. */
function append(segments: Segment[], segment: Segment): void {
  const last = segments.at(-1);
  if (last?.to === segment.from && last.point === segment.point && last.sourceId === segment.sourceId)
    segments[segments.length - 1] = { ...last, to: segment.to };
  else segments.push(segment);
}

/** Among those that could read the rule the one that began last; of two that began together the worse. */
function decide(observations: readonly Observation[]): Observation | null {
  let best: Observation | null = null;
  for (const observation of observations) {
    if (best === null || precedes(observation, best)) best = observation;
  }
  return best;
}

function precedes(one: Observation, other: Observation): boolean {
  const [isOneBlind, isOtherBlind] = [isUnreadable(one.point), isUnreadable(other.point)];
  if (isOneBlind !== isOtherBlind) return isOtherBlind;
  if (one.began !== other.began) return one.began > other.began;
  const order = comparePoints(one.point, other.point);
  return order === 0 ? one.sourceId > other.sourceId : order > 0;
}

/** Covers the period exactly once. */
export function intervalsOf(timeline: readonly Segment[], { from, to }: Span): readonly Interval[] {
  const intervals: { from: number; to: number; verdict: Pick<Interval, "status" | "reason"> }[] = [];
  const add = (start: number, end: number, verdict: Pick<Interval, "status" | "reason">) => {
    const last = intervals.at(-1);
    if (end <= start) return;
    if (last !== undefined && last.verdict.status === verdict.status && last.verdict.reason === verdict.reason)
      last.to = end;
    else intervals.push({ from: start, to: end, verdict });
  };
  let known = from;
  for (const segment of timeline) {
    const [start, end] = [Math.max(segment.from, from), Math.min(segment.to, to)];
    if (end <= start) continue;
    add(known, start, nobodyLooked);
    add(start, end, shownVerdict(segment.point));
    known = end;
  }
  add(known, to, nobodyLooked);
  return intervals.map(({ from: start, to: end, verdict: { status, reason } }) => {
    return { from: new Date(start).toISOString(), to: new Date(end).toISOString(), status, reason };
  });
}

const nobodyLooked = { status: "UNKNOWN", reason: null } as const;

function shownVerdict(point: VerdictPoint): Pick<Interval, "status" | "reason"> {
  const { status, reason } = point;
  return isUnreadable(point) ? { status: "UNKNOWN", reason } : { status, reason };
}

/** The timeline without what could not be read, and with one segment for neighbors that have the same verdict. */
export function knownOf(timeline: readonly Segment[]): readonly Segment[] {
  const known: Segment[] = [];
  for (const segment of timeline) {
    if (isUnreadable(segment.point)) continue;
    const last = known.at(-1);
    if (last?.to === segment.from && isSameVerdict(last.point, segment.point))
      known[known.length - 1] = { ...last, to: segment.to };
    else known.push(segment);
  }
  return known;
}
