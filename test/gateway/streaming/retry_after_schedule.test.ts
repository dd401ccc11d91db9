import { expect, test } from "vitest";
import { RetryAfterSchedule } from "../../../gateway/streaming/retry_after_schedule.ts";

test("clients that are refused together come back one after the other, at the rate that is assumed at first", () => {
  const times = new RetryAfterSchedule(() => 0);
  const seconds = Array.from({ length: 2000 }, () => times.next(0));
  expect(seconds[0]).toBe(2);
  expect(seconds.at(-1)).toBe(12);
  // 200 a second; those of the beginning and the end are rounded.
  for (let second = 3; second < 12; second += 1) expect(seconds.filter((each) => each === second)).toHaveLength(200);
});

test("they come behind those that are being opened", () => {
  expect(new RetryAfterSchedule(() => 0).next(1000)).toBe(5);
});

test("the rate is that of the last second, and forgotten after a pause", () => {
  let nowMs = 0;
  const times = new RetryAfterSchedule(() => nowMs);
  for (let second = 0; second < 3; second += 1) {
    for (let opened = 0; opened < 1000; opened += 1) times.countOpened();
    nowMs += 1000;
  }
  times.countOpened();
  expect(times.next(6000)).toBe(6);
  nowMs += 10_000;
  times.countOpened();
  expect(times.next(6000)).toBe(30);
});

test("nobody is told to stay away for more than a minute, and beyond it not all come at once", () => {
  const times = new RetryAfterSchedule(() => 0);
  const seconds = Array.from({ length: 100_000 }, () => times.next(2000));
  expect(Math.max(...seconds)).toBe(60);
  expect(seconds.filter((each) => each === 60).length).toBeLessThan(5000);
});

test("a client that is refused later does not wait for those that have come back", () => {
  let nowMs = 0;
  const times = new RetryAfterSchedule(() => nowMs);
  for (let client = 0; client < 2000; client += 1) times.next(0);
  nowMs = 60_000;
  expect(times.next(0)).toBe(2);
});
