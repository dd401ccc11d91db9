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

/** The median of each number of figures that were measured several times: of an even number the lower one of the two in the middle. */
export function medians<Key extends string>(figures: readonly Readonly<Record<Key, number>>[]): Record<Key, number> {
  const median = (key: Key) => {
    const sorted = figures.map((figure) => figure[key]).toSorted((one, other) => one - other);
    return [key, sorted[Math.floor((sorted.length - 1) / 2)]];
  };
  return Object.fromEntries((Object.keys(figures[0] ?? {}) as Key[]).map(median)) as Record<Key, number>;
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
