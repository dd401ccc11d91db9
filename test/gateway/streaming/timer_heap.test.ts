import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TimerHeap, type ScheduledTask } from "../../../gateway/streaming/timer_heap.ts";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

interface RecordedTask extends ScheduledTask {
  readonly calls: number[];
}

function createTask(onRun: () => void = () => {}): RecordedTask {
  const calls: number[] = [];
  return {
    dueMs: 0,
    heapIndex: -1,
    calls,
    run(nowMs) {
      calls.push(nowMs);
      onRun();
    },
  };
}

test("TimerHeap runs each task once, at its time and not before", () => {
  const timers = new TimerHeap(Date.now);
  const [early, late] = [createTask(), createTask()];
  timers.set(late, 200);
  timers.set(early, 100);
  vi.advanceTimersByTime(99);
  expect(early.calls).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(early.calls).toEqual([100]);
  vi.advanceTimersByTime(1000);
  expect(early.calls).toEqual([100]);
  expect(late.calls).toEqual([200]);
});

test("TimerHeap moves, removes and reschedules tasks, also from their own run", () => {
  const timers = new TimerHeap(Date.now);
  const moved = createTask();
  const removed = createTask();
  timers.set(moved, 100);
  timers.set(removed, 100);
  timers.set(moved, 300);
  timers.remove(removed);
  timers.remove(removed);
  const again: RecordedTask = createTask(() => {
    if (again.calls.length < 3) timers.set(again, Date.now() + 50);
  });
  timers.set(again, 50);
  vi.advanceTimersByTime(400);
  expect(moved.calls).toEqual([300]);
  expect(removed.calls).toEqual([]);
  expect(again.calls).toEqual([50, 100, 150]);
});

test("TimerHeap waits for times that are further away than a timer can count", () => {
  const timers = new TimerHeap(Date.now);
  const task = createTask();
  const twoMonthsMs = 60 * 24 * 3_600_000;
  timers.set(task, twoMonthsMs);
  vi.advanceTimersByTime(twoMonthsMs - 1);
  expect(task.calls).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(task.calls).toEqual([twoMonthsMs]);
});

test("TimerHeap runs nothing that was removed or cleared", () => {
  const timers = new TimerHeap(Date.now);
  const [one, two] = [createTask(), createTask()];
  timers.set(one, 100);
  timers.set(two, 100);
  timers.remove(one);
  timers.clear();
  vi.advanceTimersByTime(1000);
  expect([one.calls, two.calls]).toEqual([[], []]);
  timers.set(two, 2000);
  vi.advanceTimersByTime(1000);
  expect(two.calls).toEqual([2000]);
});

test("TimerHeap runs tasks in order of time, whatever was set, moved and removed before", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ index: fc.nat(19), atMs: fc.option(fc.integer({ min: 1, max: 1000 })) }), {
        maxLength: 100,
      }),
      (steps) => {
        vi.setSystemTime(0);
        const timers = new TimerHeap(Date.now);
        const called: number[] = [];
        const tasks = Array.from({ length: 20 }, (_, n) => createTask(() => called.push(n)));
        const expected = new Map<number, number>();
        for (const { index, atMs } of steps) {
          const task = tasks[index];
          if (task === undefined) continue;
          if (atMs === null) {
            timers.remove(task);
            expected.delete(index);
          } else {
            timers.set(task, atMs);
            expected.set(index, atMs);
          }
        }
        vi.advanceTimersByTime(1001);
        expect(called.toSorted((a, b) => a - b)).toEqual([...expected.keys()].toSorted((a, b) => a - b));
        const times = called.map((n) => expected.get(n) ?? -1);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        for (const [n, atMs] of expected) expect(tasks[n]?.calls).toEqual([atMs]);
      },
    ),
  );
});
