import type { ManualReason, Status } from "../schemas/finding.ts";
import type { HistoryActor, HistoryCause } from "../schemas/history.ts";

/** What the history of a rule is computed from. Times are milliseconds since 1970. */

/** A scan or a monitor, and what it said about one rule. */
export interface VerdictSource {
  readonly id: string;
  /** When it looked. A scan: from its start to its end. A monitor: each time without a gap in its polls. */
  readonly spans: readonly Span[];
  /** What it found, each from its time on until the next. A scan: one, at its start. */
  readonly points: readonly VerdictPoint[];
  /**
   * When it first looked: among two that know the same moment, the one that began last decides. A monitor that is started again
   * began when it was first started. Absent: the earliest of its spans and points.
   */
  readonly began?: number;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface RuleVerdict {
  readonly status: Status;
  readonly reason: ManualReason | null;
}

export interface VerdictPoint extends RuleVerdict {
  readonly at: number;
  readonly cause: HistoryCause;
  readonly actor: HistoryActor | null;
  /** The fingerprints of the findings with this status. */
  readonly fingerprints: readonly string[];
}

/** That a source knew a verdict from one time to another; it knew it at a moment where both are equal. */
export interface Observation extends Span {
  readonly sourceId: string;
  readonly began: number;
  readonly point: VerdictPoint;
}

const unreadableReasons: ReadonlySet<ManualReason | null> = new Set<ManualReason>([
  "missing_scope",
  "missing_role",
  "provider_error",
  "unreadable",
  "not_available",
  "interrupted",
]);

/** True for a verdict that says only that the rule could not be read: its time is unknown. */
export function isUnreadable({ status, reason }: RuleVerdict): boolean {
  return status === "MANUAL" && unreadableReasons.has(reason);
}

/** Higher is worse. Lowest is what could not be read, which decides nothing where something is known. */
export function rankOf(verdict: RuleVerdict): number {
  if (isUnreadable(verdict)) return -1;
  if (verdict.reason === "not_applicable") return 0;
  if (verdict.status === "PASS") return 1;
  if (verdict.reason === "partly_automated") return 2;
  return verdict.status === "FAIL" ? 4 : 3;
}

export function isSameVerdict(one: RuleVerdict, other: RuleVerdict): boolean {
  return one.status === other.status && one.reason === other.reason;
}

/**
 * What a source knew, and when. A verdict begins when it was seen, and is known while the source looked. One that was seen
 * while the source did not look is known at that moment only.
 */
export function observationsOf(source: VerdictSource): readonly Observation[] {
  const spans = mergeSpans(source.spans);
  const points = source.points.toSorted((one, other) => one.at - other.at || comparePoints(one, other));
  const began = source.began ?? Math.min(spans[0]?.from ?? Infinity, points[0]?.at ?? Infinity);
  const observations: Observation[] = [];
  for (const [index, point] of points.entries()) {
    const end = points[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    // The last of several points at one moment stays: points are sorted, so it is the worst.
    if (end === point.at) continue;
    const known = overlaps(spans, point.at, end);
    const isSeenInSpan = known[0]?.from === point.at;
    if (!isSeenInSpan) observations.push({ sourceId: source.id, began, from: point.at, to: point.at, point });
    for (const { from, to } of known) observations.push({ sourceId: source.id, began, from, to, point });
  }
  return observations;
}

/** The parts of the spans from one time to another, in order. */
function overlaps(spans: readonly Span[], from: number, to: number): readonly Span[] {
  const parts: Span[] = [];
  // Spans are sorted: those that end before are skipped by halving, because a year of polls has many.
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.to ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  for (let index = low; index < spans.length; index += 1) {
    const span = spans[index];
    if (span === undefined || span.from >= to) break;
    const part = { from: Math.max(span.from, from), to: Math.min(span.to, to) };
    if (part.to > part.from || span.from === span.to) parts.push(part);
  }
  return parts;
}

/** Sorted, and without overlap; one that ends before it begins is left out. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.from - other.from || one.to - other.to)) {
    if (span.to < span.from) continue;
    const last = merged.at(-1);
    if (last !== undefined && span.from <= last.to) {
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    } else merged.push(span);
  }
  return merged;
}

/** Any order that does not depend on the order of input; the worse is the later. */
export function comparePoints(one: VerdictPoint, other: VerdictPoint): number {
  return rankOf(one) - rankOf(other) || compareTexts(keyOf(one), keyOf(other));
}

function keyOf({ reason, cause, actor, fingerprints }: VerdictPoint): string {
  return JSON.stringify([reason, cause, actor?.id, actor?.login, actor?.name, fingerprints]);
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
