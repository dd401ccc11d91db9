import type { RateLimitReading } from "./rate_limit.ts";

/** One window of the provider's rate limit, as its responses showed it. */
export interface RateWindow {
  readonly limit: number;
  readonly resetSeconds: number;
  resetAtMs: number;
  /** The lowest that any response has shown. */
  remaining: number;
  /** When, and by which family, that was shown. */
  seenAt: number;
  seenBy: string;
  /** Requests in flight that are counted in it. */
  inFlight: number;
}

export interface Observation {
  readonly family: string;
  readonly reading: RateLimitReading;
  /** When the request was sent, as `tick` gave it. */
  readonly startedAt: number;
}

/**
 * The windows that responses belong to. Responses do not say which endpoints share a window, so it is inferred: the ones that
 * name the same limit and the same end are taken to share one, until one family shows more left than another saw before
 * its request was sent; from then on that family has its own windows. Sharing wrongly costs a little time, separating
 * wrongly costs a 429.
 */
export class RateWindows {
  readonly #windows = new Map<string, RateWindow>();
  readonly #separateFamilies = new Set<string>();
  #ticks = 0;

  /** Orders requests and responses. */
  tick(): number {
    return ++this.#ticks;
  }

  /** The window that the response counted in, brought up to date. */
  observe({ family, reading, startedAt }: Observation, nowMs: number, marginMs: number): RateWindow {
    const shared = this.#windows.get(keyOf(reading, ""));
    if (
      shared !== undefined &&
      shared.seenBy !== family &&
      shared.seenAt < startedAt &&
      reading.remaining >= shared.remaining
    ) {
      this.#separateFamilies.add(family);
    }
    const key = keyOf(reading, this.#separateFamilies.has(family) ? family : "");
    const seen = { remaining: reading.remaining, seenAt: this.tick(), seenBy: family };
    const resetAtMs = reading.resetAtMs + marginMs;
    const known = this.#windows.get(key);
    if (known === undefined || known.resetAtMs <= nowMs) {
      this.#deleteEnded(nowMs);
      const { limit, resetSeconds } = reading;
      const window = { limit, resetSeconds, resetAtMs, ...seen, inFlight: 0 };
      this.#windows.set(key, window);
      return window;
    }
    // Each response's estimate is late rather than early, so the earliest is the best.
    known.resetAtMs = Math.min(known.resetAtMs, resetAtMs);
    if (reading.remaining < known.remaining) Object.assign(known, seen);
    return known;
  }

  #deleteEnded(nowMs: number): void {
    for (const [key, window] of this.#windows) {
      if (window.resetAtMs <= nowMs && window.inFlight === 0) this.#windows.delete(key);
    }
  }
}

function keyOf({ limit, resetSeconds }: RateLimitReading, family: string): string {
  return `${limit}/${resetSeconds}/${family}`;
}
