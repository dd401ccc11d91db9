/** Figures of a bench, as documents show them. */
export interface Table {
  /** The first is what the table is about. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function toMarkdown({ head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

/** Returns the median, for an even number of values the lower one of the two in the middle. Throws `RangeError` for no values. */
export function median(values: readonly number[]): number {
  const middle = values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
  if (middle === undefined) throw new RangeError("Cannot take the median: nothing was measured");
  return middle;
}

/** The median of each number of figures that were measured several times. */
export function medians<Key extends string>(figures: readonly Readonly<Record<Key, number>>[]): Record<Key, number> {
  const keys = Object.keys(figures[0] ?? {}) as Key[];
  const entries = keys.map((key) => [key, median(figures.map((figure) => figure[key]))]);
  return Object.fromEntries(entries) as Record<Key, number>;
}

export const text = {
  whole: (value: number) => Math.round(value).toLocaleString("en-US"),
  ms: (value: number) => `${value.toFixed(1)} ms`,
  micros: (value: number) => `${value.toFixed(2)} µs`,
  seconds: (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} s`,
  kib: (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`,
  mib: (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`,
  thousands: (perSecond: number) => `${(perSecond / 1000).toFixed(0)} k/s`,
};
