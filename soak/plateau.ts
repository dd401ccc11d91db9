/** A measurement at one moment. */
export interface Point {
  readonly atSeconds: number;
  readonly value: number;
}

/** What a series does after its warm-up. */
export interface Course {
  /** The middle of its first half, and of its second. */
  readonly from: number;
  readonly to: number;
  /** How much it rises over the whole, as far as it does so all the time; never less than nothing. */
  readonly steadyRise: number;
}

/** The first third of a process's life: code is compiled, pools are filled, the heap finds its size. */
const warmUpShare = 1 / 3;
/** Fewer in a half are not judged. */
const minPoints = 4;

/**
 * Whether a series still rises after its warm-up, whatever its teeth. The slope of each half is the median of the slopes
 * between all pairs of its points (Theil–Sen), which outliers do not move; and the smaller of the two counts, because a
 * leak rises in both halves, and an allocator that takes another step in one. Null when there are too few points.
 */
export function courseAfterWarmUp(points: readonly Point[]): Course | null {
  const first = points[0]?.atSeconds ?? 0;
  const last = points.at(-1)?.atSeconds ?? 0;
  const warmAt = first + (last - first) * warmUpShare;
  const middle = (warmAt + last) / 2;
  const early = points.filter(({ atSeconds }) => atSeconds >= warmAt && atSeconds < middle);
  const late = points.filter(({ atSeconds }) => atSeconds >= middle);
  if (early.length < minPoints || late.length < minPoints) return null;
  return {
    from: median(early.map(({ value }) => value)),
    to: median(late.map(({ value }) => value)),
    steadyRise: Math.max(0, Math.min(slopeOf(early), slopeOf(late)) * (last - warmAt)),
  };
}

function slopeOf(points: readonly Point[]): number {
  const slopes: number[] = [];
  for (const [index, one] of points.entries()) {
    for (const other of points.slice(index + 1)) {
      if (other.atSeconds > one.atSeconds) slopes.push((other.value - one.value) / (other.atSeconds - one.atSeconds));
    }
  }
  return median(slopes);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}
