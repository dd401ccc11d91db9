import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Deadlines, type Due } from "../../../gateway/streaming/timer_heap.ts";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

interface Recorded extends Due {
  readonly calls: number[];
}

function createDue(onDue: () => void = () => {}): Recorded {
  const calls: number[] = [];
  return {
    dueMs: 0,
    dueIndex: -1,
    calls,
    due(nowMs) {
      calls.push(nowMs);
      onDue();
    },
  };
}

test("Deadlines calls each item once, at its time and not before", () => {
  const deadlines = new Deadlines(Date.now);
  const [early, late] = [createDue(), createDue()];
  deadlines.set(late, 200);
  deadlines.set(early, 100);
  vi.advanceTimersByTime(99);
  expect(early.calls).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(early.calls).toEqual([100]);
  vi.advanceTimersByTime(1000);
  expect(early.calls).toEqual([100]);
  expect(late.calls).toEqual([200]);
  expect(deadlines.size).toBe(0);
});

test("Deadlines: an item moves, leaves, and comes back from its own call", () => {
  const deadlines = new Deadlines(Date.now);
  const moved = createDue();
  const removed = createDue();
  deadlines.set(moved, 100);
  deadlines.set(removed, 100);
  deadlines.set(moved, 300);
  deadlines.remove(removed);
  deadlines.remove(removed);
  const again: Recorded = createDue(() => {
    if (again.calls.length < 3) deadlines.set(again, Date.now() + 50);
  });
  deadlines.set(again, 50);
  vi.advanceTimersByTime(400);
  expect(moved.calls).toEqual([300]);
  expect(removed.calls).toEqual([]);
  expect(again.calls).toEqual([50, 100, 150]);
});

test("Deadlines: what is further away than a timer can count is not due at once", () => {
  const deadlines = new Deadlines(Date.now);
  const item = createDue();
  const twoMonthsMs = 60 * 24 * 3_600_000;
  deadlines.set(item, twoMonthsMs);
  vi.advanceTimersByTime(twoMonthsMs - 1);
  expect(item.calls).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(item.calls).toEqual([twoMonthsMs]);
});

test("Deadlines keeps no timer when it holds nothing", () => {
  const deadlines = new Deadlines(Date.now);
  const [one, two] = [createDue(), createDue()];
  deadlines.set(one, 100);
  deadlines.set(two, 100);
  expect(vi.getTimerCount()).toBe(1);
  deadlines.remove(one);
  deadlines.remove(two);
  expect(vi.getTimerCount()).toBe(0);
  deadlines.set(one, 100);
  deadlines.clear();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1000);
  expect(one.calls).toEqual([]);
});

test("Deadlines calls in order of time, whatever was set, moved and removed before", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ item: fc.nat(19), atMs: fc.option(fc.integer({ min: 1, max: 1000 })) }), { maxLength: 100 }),
      (steps) => {
        vi.setSystemTime(0);
        const deadlines = new Deadlines(Date.now);
        const called: number[] = [];
        const items = Array.from({ length: 20 }, (_, n) => createDue(() => called.push(n)));
        const expected = new Map<number, number>();
        for (const { item, atMs } of steps) {
          const due = items[item];
          if (due === undefined) continue;
          if (atMs === null) {
            deadlines.remove(due);
            expected.delete(item);
          } else {
            deadlines.set(due, atMs);
            expected.set(item, atMs);
          }
        }
        expect(deadlines.size).toBe(expected.size);
        vi.advanceTimersByTime(1001);
        expect(called.toSorted((a, b) => a - b)).toEqual([...expected.keys()].toSorted((a, b) => a - b));
        const times = called.map((n) => expected.get(n) ?? -1);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        for (const [n, atMs] of expected) expect(items[n]?.calls).toEqual([atMs]);
      },
    ),
  );
});
