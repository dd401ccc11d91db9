import { pause } from "../../shared/abortable.ts";
import { createSteadyClock } from "../../shared/steady_clock.ts";

/** No update of one resource is published sooner than a second after the last. */
export interface PacedUpdates {
  /**
   * Publishes at once, or, for what changes within the next second, once at the end of it. Resolves when what this call has to publish
   * was published.
   */
  run(key: string, publish: () => Promise<void>): Promise<void>;
}

const everyMs = 1000;
/** Its publication may take this long before another request takes it over: the request that waits may be cancelled. */
const abandonedAfterMs = 1000;

interface Pace {
  /** No update of the resource is published sooner. */
  readonly nextAtMs: number;
  /** An update waits for that moment, and reads the resource then. */
  isWaiting: boolean;
}

export function createPacedUpdates(clock: () => number): PacedUpdates {
  const nowMs = createSteadyClock(clock);
  /** Least recent first. */
  const paces = new Map<string, Pace>();

  return {
    async run(key, publish) {
      const startedMs = nowMs();
      const pace = paces.get(key);
      if (pace === undefined || pace.nextAtMs + abandonedAfterMs < startedMs) {
        allowNext(key, startedMs);
        await publish();
        return;
      }
      if (pace.isWaiting) return;
      pace.isWaiting = true;
      await pause(Math.max(0, pace.nextAtMs - startedMs), []);
      allowNext(key, nowMs());
      await publish();
    },
  };

  function allowNext(key: string, atMs: number): void {
    paces.delete(key);
    paces.set(key, { nextAtMs: atMs + everyMs, isWaiting: false });
    for (const [other, { nextAtMs }] of paces) {
      if (nextAtMs + abandonedAfterMs >= atMs) return;
      paces.delete(other);
    }
  }
}
