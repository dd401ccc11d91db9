import { expect, test } from "vitest";
import {
  growingMetrics,
  leakedResources,
  steadyRise,
  type Point,
  type Resources,
  type Sample,
} from "./measurements.ts";

const before: Resources = { descriptors: 40, timers: 0, streams: 0, unended: 0, subscriptions: 0, liveMiB: 22 };

test.each(["streams", "unended", "subscriptions"] as const)("leakedResources allows not one of %s", (name) => {
  expect(leakedResources(before, before)).toEqual([]);
  expect(leakedResources(before, { ...before, [name]: 1 })).toEqual([
    `${name}: 1 after every client had left, expected 0`,
  ]);
  // A negative count means that closings were counted twice.
  expect(leakedResources(before, { ...before, [name]: -1 })).toHaveLength(1);
});

test.each([
  ["descriptors", 56],
  ["timers", 16],
  ["liveMiB", 46],
] as const)("leakedResources allows %s up to %d", (name, most) => {
  expect(leakedResources(before, { ...before, [name]: most })).toEqual([]);
  expect(leakedResources(before, { ...before, [name]: most + 1 })).toHaveLength(1);
});

/** Five minutes of samples, with a rise over the 200 s after the warm-up. */
function samples(valuesAt: (shareOfTheRise: number) => Partial<Sample>, seconds = 300): readonly Sample[] {
  const level = { rssMiB: 320, externalMiB: 14, liveMiB: 24, descriptors: 200, timers: 10 };
  return Array.from({ length: 61 }, (_, n) => ({
    ...level,
    atSeconds: (n / 60) * seconds,
    ...valuesAt((n * 5 - 100) / 200),
  }));
}

test.each([
  ["liveMiB", 6],
  ["externalMiB", 8],
  ["rssMiB", 24],
] as const)("growingMetrics allows a steady rise of %s by %d MiB", (name, most) => {
  expect(growingMetrics(samples(() => ({})))).toEqual([]);
  expect(growingMetrics(samples((share) => ({ [name]: 100 + share * (most - 0.5) })))).toEqual([]);
  const problems = growingMetrics(samples((share) => ({ [name]: 100 + share * (most + 0.5) })));
  expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name}: .*expected at most ${most}$`))]);
});

test("growingMetrics judges the heap by the samples that were collected", () => {
  const rare = samples((share) => ({ liveMiB: 100 + share * 50 })).map((one, n) =>
    n % 4 === 0 ? one : { ...one, liveMiB: null },
  );
  expect(growingMetrics(rare)).toHaveLength(1);
});

test("growingMetrics takes a life of less than 100 s for warm-up", () => {
  const rising = (seconds: number) => samples((share) => ({ rssMiB: 300 + share * 300 }), seconds);
  expect(growingMetrics(rising(99))).toEqual([]);
  expect(growingMetrics(rising(100))).toHaveLength(1);
});

/** A value every five seconds for ten minutes: 200 s of warm-up, and two halves of 200 s. */
function series(valueAt: (atSeconds: number) => number): readonly Point[] {
  return Array.from({ length: 121 }, (_, index) => ({ atSeconds: index * 5, value: valueAt(index * 5) }));
}

test.each<[name: string, valueAt: (at: number) => number, least: number, most: number]>([
  ["a plateau", () => 300, 0, 0],
  ["a plateau after a warm-up", (at) => Math.min(300, 100 + at), 0, 0],
  ["the teeth of a collector", (at) => 300 + ((at * 7) % 95), 0, 4],
  ["outliers", (at) => (at % 50 === 0 ? 900 : 300), 0, 0],
  ["one step in the first half", (at) => (at < 300 ? 300 : 380), 0, 0],
  ["one step in the second half", (at) => (at < 500 ? 300 : 380), 0, 0],
  ["a fall", (at) => 600 - at, 0, 0],
  ["a leak under teeth", (at) => 300 + at / 10 + ((at * 7) % 95), 20, 50],
  ["a steady leak", (at) => at, 399.9, 400.1],
  ["a leak that flattens", (at) => (at < 400 ? at : 200 + at / 2), 199.9, 200.1],
])("steadyRise of %s", (_, valueAt, least, most) => {
  const rise = steadyRise(series(valueAt));
  expect(rise).toBeGreaterThanOrEqual(least);
  expect(rise).toBeLessThanOrEqual(most);
});

test("steadyRise needs four points in each half", () => {
  const points = Array.from({ length: 12 }, (_, index) => ({ atSeconds: index * 10, value: index }));
  expect(steadyRise(points)).toBeCloseTo(22 / 3);
  expect(steadyRise(points.slice(0, 9))).toBeNull();
});
