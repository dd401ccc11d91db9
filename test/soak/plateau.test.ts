import { expect, test } from "vitest";
import { riseAfterWarmUp, type Point } from "./plateau.ts";

/** A value every five seconds for ten minutes. */
function series(valueAt: (atSeconds: number) => number): readonly Point[] {
  return Array.from({ length: 121 }, (_, index) => ({ atSeconds: index * 5, value: valueAt(index * 5) }));
}

test("riseAfterWarmUp is nothing for a plateau, however it was reached", () => {
  expect(riseAfterWarmUp(series(() => 300))).toEqual({ rise: 0, from: 300, to: 300 });
  const warmedUp = riseAfterWarmUp(series((at) => (at < 200 ? 100 + at : 300)));
  expect(warmedUp?.rise).toBe(0);
});

test("riseAfterWarmUp looks through the teeth of a collector and through outliers", () => {
  const teeth = riseAfterWarmUp(series((at) => 300 + ((at * 7) % 95)));
  expect(Math.abs(teeth?.rise ?? Infinity)).toBeLessThan(4);
  const outliers = riseAfterWarmUp(series((at) => (at % 50 === 0 ? 900 : 300)));
  expect(outliers?.rise).toBe(0);
});

test("riseAfterWarmUp is not moved by one late step of the allocator, but by what rises all the time", () => {
  const step = riseAfterWarmUp(series((at) => (at < 500 ? 300 : 380)));
  expect(step?.rise).toBe(0);
  const leak = riseAfterWarmUp(series((at) => 300 + at / 20 + ((at * 7) % 95)));
  expect(leak?.rise).toBeGreaterThan(15);
  expect(leak?.rise).toBeLessThan(25);
});

test("riseAfterWarmUp measures from the end of the warm-up to the last point", () => {
  const steady = riseAfterWarmUp(series((at) => at));
  expect(steady).toEqual({ rise: 400, from: 200, to: 600 });
  const falling = riseAfterWarmUp(series((at) => 600 - at));
  expect(falling?.rise).toBe(-400);
});

test("riseAfterWarmUp does not judge by fewer than four points", () => {
  const points = [0, 10, 20, 30, 40].map((atSeconds) => ({ atSeconds, value: atSeconds }));
  expect(riseAfterWarmUp(points)).toBeNull();
  expect(riseAfterWarmUp([...points, { atSeconds: 50, value: 50 }])?.rise).toBeCloseTo(30);
});
