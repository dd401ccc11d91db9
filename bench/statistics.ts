/** For an even number of values the lower one of the two in the middle. Throws `RangeError` for no values. */
export function median(values: readonly number[]): number {
  const middle = values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
  if (middle === undefined) throw new RangeError("Cannot take the median: there are no values");
  return middle;
}

/** The median of each number of figures that were measured several times. */
export function medians<Key extends string>(figures: readonly Readonly<Record<Key, number>>[]): Record<Key, number> {
  const [first] = figures;
  if (first === undefined) throw new RangeError("Cannot take medians: nothing was measured");
  const entries = Object.keys(first).map((key) => [key, median(figures.map((figure) => figure[key as Key]))]);
  return Object.fromEntries(entries) as Record<Key, number>;
}

/** Rounded to two decimals. */
export function quantile(values: readonly number[], share: number): number {
  const value = values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0;
  return Math.round(value * 100) / 100;
}
