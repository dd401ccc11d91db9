import type { Clock } from "../../scanner/okta/clock.ts";

/** Time that passes only while something waits for it, and then at once: the earliest waiter first. */
export function createFakeClock(startMs: number = Date.now()) {
  let nowMs = startMs;
  const sleeps: number[] = [];
  const waiting = new Set<{ readonly atMs: number; readonly wake: () => void }>();
  const wakeEarliest = () => {
    const [next] = [...waiting].toSorted((one, other) => one.atMs - other.atMs);
    if (next === undefined) return;
    waiting.delete(next);
    nowMs = Math.max(nowMs, next.atMs);
    next.wake();
  };
  return {
    /** How long each wait was, in the order in which they began. */
    sleeps: sleeps as readonly number[],
    nowMs: () => nowMs,
    random: () => 0.5,
    advance: (ms: number) => void (nowMs += ms),
    sleep(ms, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      sleeps.push(ms);
      return new Promise<void>((resolve, reject) => {
        const entry = { atMs: nowMs + ms, wake: resolve };
        waiting.add(entry);
        signal.addEventListener("abort", () => (waiting.delete(entry), reject(signal.reason)), { once: true });
        setImmediate(wakeEarliest);
      });
    },
  } satisfies Clock & Record<string, unknown>;
}
