import { expect, test } from "vitest";
import { courseAfterWarmUp, type Point } from "./plateau.ts";

/** A value every five seconds for ten minutes: 200 s of warm-up, and two halves of 200 s. */
function series(valueAt: (atSeconds: number) => number): readonly Point[] {
  return Array.from({ length: 121 }, (_, index) => ({ atSeconds: index * 5, value: valueAt(index * 5) }));
}

test("courseAfterWarmUp does not rise on a plateau, however it was reached", () => {
  expect(courseAfterWarmUp(series(() => 300))).toEqual({ from: 300, to: 300, steadyRise: 0 });
  const warmedUp = courseAfterWarmUp(series((at) => (at < 200 ? 100 + at : 300)));
  expect(warmedUp).toEqual({ from: 300, to: 300, steadyRise: 0 });
});

test("courseAfterWarmUp looks through the teeth of a collector and through outliers", () => {
  const teeth = courseAfterWarmUp(series((at) => 300 + ((at * 7) % 95)));
  expect(teeth?.steadyRise).toBeLessThan(4);
  const outliers = courseAfterWarmUp(series((at) => (at % 50 === 0 ? 900 : 300)));
  expect(outliers?.steadyRise).toBe(0);
});

test.each([210, 300, 400, 500, 595])("courseAfterWarmUp is not moved by one late step, here after %d s", (stepAt) => {
  const step = courseAfterWarmUp(series((at) => (at < stepAt ? 300 : 380)));
  expect(step?.steadyRise).toBe(0);
});

test("courseAfterWarmUp finds what rises all the time, under teeth as well", () => {
  const leak = courseAfterWarmUp(series((at) => 300 + at / 10 + ((at * 7) % 95)));
  expect(leak?.steadyRise).toBeGreaterThan(20);
  expect(leak?.steadyRise).toBeLessThan(50);
  const steady = courseAfterWarmUp(series((at) => at));
  expect(steady?.steadyRise).toBeCloseTo(400);
  // A slope that becomes half as steep counts as the smaller one.
  const flattening = courseAfterWarmUp(series((at) => (at < 400 ? at : 400 + (at - 400) / 2)));
  expect(flattening?.steadyRise).toBeCloseTo(200);
});

test("courseAfterWarmUp does not rise where something falls", () => {
  expect(courseAfterWarmUp(series((at) => 600 - at))?.steadyRise).toBe(0);
});

test("courseAfterWarmUp does not judge by fewer than four points a half", () => {
  const points = Array.from({ length: 12 }, (_, index) => ({ atSeconds: index * 10, value: index }));
  expect(courseAfterWarmUp(points)?.steadyRise).toBeCloseTo(22 / 3);
  expect(courseAfterWarmUp(points.slice(0, 9))).toBeNull();
});
