import { setTimeout as delay } from "node:timers/promises";

/** Time and chance, passed in so that tests need to wait for neither. */
export type Clock = typeof systemClock;

export const systemClock = {
  /** Milliseconds since the epoch, by this machine. */
  nowMs: () => Date.now(),
  /** From 0 up to, not including, 1. */
  random: () => Math.random(),
  /** Rejects with the signal's reason when it aborts. */
  sleep: (ms: number, signal: AbortSignal): Promise<void> =>
    delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted()),
};
