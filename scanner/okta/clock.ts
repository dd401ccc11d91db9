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
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, { signal });
    } catch {
      signal.throwIfAborted();
    }
  },
};

/**
 * The provider's idea of the time, which is what it judges assertions and proofs by. Until `correct` is called it is
 * this machine's: a `Date` header may be a cache's, so it is believed only after the provider found our time wrong.
 */
export class ProviderClock {
  readonly #clock: Clock;
  #offsetMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowSeconds(): number {
    return Math.floor((this.#clock.nowMs() + this.#offsetMs) / 1000);
  }

  /** How far the provider's clock is ahead of the time used so far, in milliseconds. */
  distanceTo(moment: ProviderMoment): number {
    return moment.providerMs - (moment.receivedAtMs + this.#offsetMs);
  }

  correct(moment: ProviderMoment): void {
    this.#offsetMs = moment.providerMs - moment.receivedAtMs;
  }
}

/** An answer's `Date`, and when it arrived by this machine's clock. */
export interface ProviderMoment {
  readonly providerMs: number;
  readonly receivedAtMs: number;
}

export function providerMoment(headers: Headers, receivedAtMs: number): ProviderMoment | null {
  const providerMs = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(providerMs) ? null : { providerMs, receivedAtMs };
}
