import type { Interval } from "../schemas/history.ts";
import { isSameResult, isUnreadable, rankOf, type RuleResult, type RunObservation, type Span } from "./observation.ts";

/**
 * A known time of one rule, with one deciding result. The segments are in order and do not overlap. A segment with
 * equal times is a result that was known at that moment only. Time between segments is unknown.
 */
export interface Segment extends Span {
  readonly result: RuleResult;
}

type Known = Segment & Omit<RunObservation, "results">;

/** The timeline of a rule, by its check. The order of the observations does not matter. */
export function timelineOf(check: string, observations: readonly RunObservation[]): readonly Segment[] {
  const known = knownOf(check, observations).toSorted(byPrecedence);
  const times = [...new Set(known.flatMap(({ from, to }) => [from, to]))].sort((one, other) => one - other);
  const places = new Map(times.map((time, place) => [time, place]));
  /** Deciding from each time until the next one, and at that time alone. */
  const lasting: Known[] = [];
  const brief: Known[] = [];
  /** The next place that nothing has taken, or one on the way to it: thousands may overlap, and each place is taken once. */
  const free = times.map((_, place) => place);
  for (const one of known) {
    const [from = 0, to = 0] = [places.get(one.from), places.get(one.to)];
    if (from === to && lasting[from] === undefined) brief[from] ??= one;
    let place = from;
    while (place < to) {
      const next = free[place] ?? to;
      if (next === place) lasting[place] = one;
      free[place] = Math.max(next, to);
      place = Math.max(next, place + 1);
    }
  }
  const segments = times.flatMap((time, place) => [
    ...toSegments(brief[place], time, time),
    ...toSegments(lasting[place], time, times[place + 1] ?? time),
  ]);
  return joinNeighbors(segments, (one, other) => one.result === other.result);
}

function toSegments(one: Known | undefined, from: number, to: number): readonly Segment[] {
  return one === undefined ? [] : [{ from, to, result: one.result }];
}

/** One segment for neighbors without a gap that say the same: the result of the first. */
function joinNeighbors<Item extends Span>(items: readonly Item[], isSame: (one: Item, other: Item) => boolean): Item[] {
  const joined: Item[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    if (last?.to === item.from && isSame(last, item)) joined[joined.length - 1] = { ...last, to: item.to };
    else joined.push(item);
  }
  return joined;
}

/** Results by time, one for neighbors of one run that say the same. */
function knownOf(check: string, observations: readonly RunObservation[]): readonly Known[] {
  const known: Known[] = [];
  const last = new Map<string, number>();
  for (const { runId, began, from, to, results } of observations.toSorted((one, other) => one.from - other.from)) {
    const result = results[check];
    // A rule that a scan did not reach was not evaluated, and changes nothing.
    if (result === undefined || result.reason === "interrupted") continue;
    const index = last.get(runId) ?? -1;
    const before = known[index];
    if (before?.to === from && isSameResult(before.result, result)) known[index] = { ...before, to };
    else last.set(runId, known.push({ runId, began, from, to, result }) - 1);
  }
  return known;
}

/** First the run that began last and could read the rule; of two that began together, the worse. */
function byPrecedence(one: Known, other: Known): number {
  return (
    Number(isUnreadable(one.result)) - Number(isUnreadable(other.result)) ||
    other.began - one.began ||
    rankOf(other.result) - rankOf(one.result) ||
    (one.runId < other.runId ? 1 : -1)
  );
}

/** Covers the period exactly once. */
export function intervalsOf(timeline: readonly Segment[], { from, to }: Span): readonly Interval[] {
  const intervals: (Span & Pick<Interval, "status" | "reason">)[] = [];
  let known = from;
  for (const { from: begin, to: finish, result } of timeline) {
    const [start, end] = [Math.max(begin, from), Math.min(finish, to)];
    if (end <= start) continue;
    if (start > known) intervals.push({ from: known, to: start, status: "UNKNOWN", reason: null });
    const status = isUnreadable(result) ? "UNKNOWN" : result.status;
    intervals.push({ from: start, to: end, status, reason: result.reason ?? null });
    known = end;
  }
  if (to > known) intervals.push({ from: known, to, status: "UNKNOWN", reason: null });
  const joined = joinNeighbors(intervals, (one, other) => one.status === other.status && one.reason === other.reason);
  return joined.map((one) => ({ ...one, from: new Date(one.from).toISOString(), to: new Date(one.to).toISOString() }));
}

/** The timeline without what could not be read, and with one segment for neighbors that have the same result. */
export function readableOf(timeline: readonly Segment[]): readonly Segment[] {
  const readable = timeline.filter(({ result }) => !isUnreadable(result));
  return joinNeighbors(readable, (one, other) => isSameResult(one.result, other.result));
}
