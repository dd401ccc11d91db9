import type { Clock } from "../okta/clock.ts";

/** Ends a wait early: the provider's event hook says that something changed. */
export interface Doorbell {
  ring(): void;
  /** Waits; true when it was rung, also before the wait. Rejects with the signal's reason. */
  wait(ms: number, clock: Clock, signal: AbortSignal): Promise<boolean>;
}

export function createDoorbell(): Doorbell {
  let isRung = false;
  let wake: (() => void) | null = null;
  return {
    ring() {
      isRung = true;
      wake?.();
    },
    async wait(ms, clock, signal) {
      signal.throwIfAborted();
      if (!isRung) {
        const rung = new AbortController();
        wake = () => rung.abort();
        try {
          await clock.sleep(ms, AbortSignal.any([signal, rung.signal]));
        } catch (error) {
          signal.throwIfAborted();
          if (!rung.signal.aborted) throw error;
        } finally {
          wake = null;
        }
      }
      const wasRung = isRung;
      isRung = false;
      return wasRung;
    },
  };
}
