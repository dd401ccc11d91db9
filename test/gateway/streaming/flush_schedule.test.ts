import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FlushSchedule } from "../../../gateway/streaming/flush_schedule.ts";

let flushes: number;
let schedule: FlushSchedule;

// Immediates stay real: they are the turns.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  flushes = 0;
  schedule = new FlushSchedule(() => void (flushes += 1), Date.now);
});
afterEach(() => void vi.useRealTimers());

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** A flush that takes so long, and after which so much time passes. */
function flushTaking(ms: number, thenMs = 0): void {
  const beganMs = Date.now();
  vi.setSystemTime(beganMs + ms);
  schedule.flushed(beganMs);
  vi.setSystemTime(beganMs + ms + thenMs);
}

test.each([
  ["first of all", () => {}],
  ["after a flush that was short", () => flushTaking(1)],
  ["a while after a flush that was long", () => flushTaking(50, 2)],
])("an event is written at the end of its turn: %s", async (_when, before) => {
  before();
  schedule.begin();
  expect(flushes).toBe(0);
  await turn();
  expect(flushes).toBe(1);
});

test("an event that came during a long flush waits for a second one of its channel", async () => {
  flushTaking(20);
  schedule.begin();
  await turn();
  expect(flushes).toBe(0);
  schedule.joined();
  schedule.joined();
  await turn();
  expect(flushes).toBe(1);
  vi.advanceTimersByTime(100);
  expect(flushes).toBe(1);
});

test.each([
  ["as long as that flush took", 3, 3],
  ["5 ms at most", 200, 5],
])("it waits no longer than %s", (_what, tookMs, waitMs) => {
  flushTaking(tookMs);
  schedule.begin();
  vi.advanceTimersByTime(waitMs - 1);
  expect(flushes).toBe(0);
  vi.advanceTimersByTime(1);
  expect(flushes).toBe(1);
});

test("waits in vain become rarer, and one that was not makes the next flush wait again", async () => {
  /** Of so many events, each of which comes right after a long flush, and alone. */
  async function waits(events: number): Promise<string> {
    let seen = "";
    for (let event = 0; event < events; event += 1) {
      flushTaking(20);
      const before = flushes;
      schedule.begin();
      await turn();
      seen += flushes === before ? "w" : ".";
      vi.advanceTimersByTime(5);
      expect(flushes).toBe(before + 1);
    }
    return seen;
  }

  const skipped = (events: number) => ".".repeat(events);
  expect(await waits(7)).toBe("wwww.w.");
  expect(await waits(90)).toBe(`..w${skipped(7)}w${skipped(15)}w${skipped(31)}w${skipped(31)}`);
  flushTaking(20);
  schedule.begin();
  schedule.joined();
  await turn();
  expect(await waits(6)).toBe("wwww.w");
});

test("after a flush for another reason, such as a terminal event, nothing waits any more", async () => {
  flushTaking(20);
  schedule.begin();
  schedule.flushed(Date.now());
  vi.advanceTimersByTime(100);
  await turn();
  expect(flushes).toBe(0);
});
