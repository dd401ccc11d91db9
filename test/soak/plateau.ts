/** A measurement at a time. */
export interface Point {
  readonly atSeconds: number;
  readonly value: number;
}

export interface Rise {
  /** How much the straight line through the points rises, from the end of the warm-up to the last. */
  readonly rise: number;
  readonly from: number;
  readonly to: number;
}

/** The first third of a process's life: code is compiled, pools are filled, the heap finds its size. */
const warmUpShare = 1 / 3;

/**
 * How much a series still rises after its warm-up, whatever its teeth: the slope is the median of the slopes between all
 * pairs of points (Theil–Sen), which neither a few outliers nor one step of the allocator moves; only what rises all the
 * time does. Null for fewer than four points after the warm-up.
 */
export function riseAfterWarmUp(points: readonly Point[]): Rise | null {
  const first = points[0]?.atSeconds ?? 0;
  const last = points.at(-1)?.atSeconds ?? 0;
  const warm = points.filter(({ atSeconds }) => atSeconds >= first + (last - first) * warmUpShare);
  if (warm.length < 4) return null;
  const slopes: number[] = [];
  for (const [index, one] of warm.entries()) {
    for (const other of warm.slice(index + 1)) {
      if (other.atSeconds > one.atSeconds) slopes.push((other.value - one.value) / (other.atSeconds - one.atSeconds));
    }
  }
  const rise = median(slopes) * (last - (warm[0]?.atSeconds ?? 0));
  const level = median(warm.map(({ value }) => value));
  return { rise, from: level - rise / 2, to: level + rise / 2 };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}
