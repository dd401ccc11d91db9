import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startWatchdog } from "../../../shared/brokers/watchdog.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(options = { idleMs: 20_000, graceMs: 10_000 }) {
  const calls: string[] = [];
  const watchdog = startWatchdog({
    ...options,
    onIdle: () => void calls.push("idle"),
    onSilent: () => void calls.push("silent"),
  });
  return { calls, watchdog };
}

test("startWatchdog reports idle after idleMs and silent after graceMs, each once", () => {
  const { calls } = start();
  vi.advanceTimersByTime(19_999);
  expect(calls).toEqual([]);
  vi.advanceTimersByTime(2501);
  expect(calls).toEqual(["idle"]);
  vi.advanceTimersByTime(9999);
  expect(calls).toEqual(["idle"]);
  vi.advanceTimersByTime(2501);
  expect(calls).toEqual(["idle", "silent"]);
  vi.advanceTimersByTime(600_000);
  expect(calls).toEqual(["idle", "silent"]);
});

test.each([
  ["REST", { idleMs: 20_000, graceMs: 10_000 }, 30_000],
  ["TCP", { idleMs: 5000, graceMs: 10_000 }, 15_000],
  ["the gateway's streams", { idleMs: 15_000, graceMs: 15_000 }, 30_000],
])("startWatchdog finds silence within 60 s and not before its time: %s", (_, options, leastMs) => {
  for (const offsetMs of [0, 1, 1249, 2499]) {
    const { calls, watchdog } = start(options);
    vi.advanceTimersByTime(offsetMs);
    watchdog.reset();
    vi.advanceTimersByTime(leastMs - 1);
    expect(calls).not.toContain("silent");
    vi.advanceTimersByTime(60_000 - leastMs);
    expect(calls).toContain("silent");
    watchdog.stop();
  }
});

test("startWatchdog starts again at each reset, also after it reported idle", () => {
  const { calls, watchdog } = start();
  vi.advanceTimersByTime(23_000);
  expect(calls).toEqual(["idle"]);
  watchdog.reset();
  vi.advanceTimersByTime(19_000);
  expect(calls).toEqual(["idle"]);
  vi.advanceTimersByTime(4000);
  expect(calls).toEqual(["idle", "idle"]);
});

test("startWatchdog reports nothing once it is stopped", () => {
  const { calls, watchdog } = start();
  vi.advanceTimersByTime(25_000);
  watchdog.stop();
  vi.advanceTimersByTime(60_000);
  expect(calls).toEqual(["idle"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("startWatchdog counts a process that slept as one tick", () => {
  const { calls } = start();
  vi.advanceTimersByTime(2500);
  // The clock jumps; timers do not run meanwhile.
  vi.setSystemTime(Date.now() + 3_600_000);
  vi.advanceTimersByTime(2500);
  expect(calls).toEqual([]);
});
