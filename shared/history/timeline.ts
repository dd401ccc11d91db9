import type { Interval } from "../schemas/history.ts";
import { isSameResult, isUnreadable, rankOf, type RuleResult, type RunObservation, type Span } from "./observation.ts";

/**
 * A known time of one rule, with one deciding result. The segments are in order and do not overlap. A segment with
 * equal times is a result that was known at that moment only. Time between segments is unknown.
 */
export interface Segment extends Span {
  readonly result: RuleResult;
}

interface Known extends Pick<RunObservation, "runId" | "began" | "from" | "to"> {
  readonly result: RuleResult;
}

/** The timeline of a rule, by its check. The order of the observations does not matter. */
export function timelineOf(check: string, observations: readonly RunObservation[]): readonly Segment[] {
  const known = knownOf(check, observations);
  const times = [...new Set(known.flatMap(({ from, to }) => [from, to]))].sort((one, other) => one - other);
  const segments: Segment[] = [];
  let active: readonly Known[] = [];
  let next = 0;
  for (const [index, time] of times.entries()) {
    const begun: Known[] = [];
    for (let one = known[next]; one?.from === time; one = known[next]) {
      begun.push(one);
      next += 1;
    }
    active = [...active.filter(({ to }) => to > time), ...begun.filter(({ to }) => to > time)];
    const moment = decide([...active, ...begun.filter(({ to }) => to === time)]);
    const lasting = decide(active);
    const end = times[index + 1];
    if (moment !== null && moment !== lasting) segments.push({ from: time, to: time, result: moment.result });
    if (lasting !== null && end !== undefined) segments.push({ from: time, to: end, result: lasting.result });
  }
  return joinNeighbors(segments, (one, other) => one.result === other.result);
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

/** Returns the result of the run that began last and could read the rule; of two that began together, the worse. */
function decide(known: readonly Known[]): Known | null {
  let best: Known | null = null;
  for (const one of known) if (best === null || precedes(one, best)) best = one;
  return best;
}

function precedes(one: Known, other: Known): boolean {
  const [isOneBlind, isOtherBlind] = [isUnreadable(one.result), isUnreadable(other.result)];
  if (isOneBlind !== isOtherBlind) return isOtherBlind;
  if (one.began !== other.began) return one.began > other.began;
  const order = rankOf(one.result) - rankOf(other.result);
  return order === 0 ? one.runId > other.runId : order > 0;
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
