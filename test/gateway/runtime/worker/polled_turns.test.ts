import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PolledTurns } from "../../../../gateway/runtime/worker/polled_turns.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(turns: PolledTurns) {
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const run = (holder: string) =>
    turns.run(holder, async () => {
      order.push(holder);
      await new Promise<void>((resolve) => void ends.push(resolve));
    });
  return { order, ends, run };
}

test("two of one holder run, another one's begins at once, and the rest go on as turns end", async () => {
  const { order, ends, run } = start(new PolledTurns(3, Date.now));
  const all = Array.from({ length: 5 }, () => run("attacker"));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(order).toEqual(["attacker", "attacker"]);
  const other = run("victim");
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(["attacker", "attacker", "victim"]);
  while (ends.length > 0) {
    ends.shift()?.();
    await vi.advanceTimersByTimeAsync(100);
  }
  await Promise.all([...all, other]);
  expect(order).toHaveLength(6);
});

test("a holder with too many that wait is told to come back, another one is not", async () => {
  const { order, run } = start(new PolledTurns(3, Date.now));
  for (let n = 0; n < 1026; n += 1) void run("attacker");
  await expect(run("attacker")).rejects.toMatchObject({ code: "too_many", retryAfterSeconds: expect.any(Number) });
  void run("victim");
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(["attacker", "attacker", "victim"]);
});

test("what runs longer than it counts keeps nobody from beginning", async () => {
  const { order, run } = start(new PolledTurns(3, Date.now, { maxRunMs: 25 }));
  for (let n = 0; n < 4; n += 1) void run("one");
  await vi.advanceTimersByTimeAsync(100);
  expect(order).toHaveLength(4);
});

test("what fails gives its turn back, and its error to the caller", async () => {
  const turns = new PolledTurns(3, Date.now);
  for (let n = 0; n < 5; n += 1) {
    await expect(turns.run("one", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  }
});

test("requests that the runtime ended while they ran or waited hold nothing for long", async () => {
  const { order, run } = start(new PolledTurns(3, Date.now));
  void run("one");
  void run("one");
  void run("one");
  await vi.advanceTimersByTimeAsync(20);
  // Nothing of them runs any more, not even their timers.
  vi.clearAllTimers();
  await vi.advanceTimersByTimeAsync(31_000);
  void run("one");
  await vi.advanceTimersByTimeAsync(20);
  expect(order).toEqual(["one", "one", "one"]);
});
