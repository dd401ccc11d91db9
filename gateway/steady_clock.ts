/** Measures how long something takes: the time of a clock, which goes on where that clock is set back. */
export function createSteadyClock(nowMs: () => number = Date.now): () => number {
  let lastMs = -Infinity;
  let aheadMs = 0;
  return () => {
    const givenMs = nowMs();
    aheadMs = Math.max(aheadMs, lastMs - givenMs);
    lastMs = givenMs + aheadMs;
    return lastMs;
  };
}
