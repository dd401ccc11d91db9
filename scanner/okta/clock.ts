import { setTimeout as delay } from "node:timers/promises";

/** Time and chance, passed in so that tests need to wait for neither. */
export interface Clock {
  /** Milliseconds since the epoch, by this machine. */
  nowMs(): number;
  /** Rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** From 0 up to, not including, 1. */
  random(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted()),
};
