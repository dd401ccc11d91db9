import type { Clock } from "./clock.ts";
import type { RateWindow } from "./rate_limit.ts";

export interface RateLimiterOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How many requests may be in flight. */
  readonly concurrency: number;
  /** Called when requests of a family begin to wait for its rate limit, with how long. */
  readonly onThrottled: (ms: number) => void;
}

export interface PermitRequest<Answer extends object> {
  readonly family: string;
  /** True for a request that others in flight wait for. */
  readonly isUrgent: boolean;
  /** Returns an answer that makes the request needless; called again whenever the request could begin. */
  readonly knownAnswer: () => Answer | null;
}

export interface FamilyWindow extends RateWindow {
  /** First word of its endpoints' paths below the API: `policies`. */
  readonly family: string;
}

/** Gives the permit back, with the window that the answer showed; null for an answer without one, and without an answer. */
export type Release = (window: RateWindow | null) => void;

/**
 * Lets requests begin as fast as the provider's rate limits allow. The provider does not say which endpoints share a
 * window, so each family is taken to have one: while the window is open, as many requests are in flight as it has left,
 * and then none until its end. One request shows the window of a family that has none open.
 */
export class RateLimiter<Answer extends object> {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onThrottled: (ms: number) => void;
  readonly #families = new Map<string, Family>();
  #concurrency: number;
  #inFlight = 0;
  #waiting: Waiter<Answer>[] = [];
  #asleep = 0;
  #asleepSinceMs = 0;
  #throttledMs = 0;

  constructor({ clock, signal, concurrency, onThrottled }: RateLimiterOptions) {
    this.#clock = clock;
    this.#signal = signal;
    this.#concurrency = concurrency;
    this.#onThrottled = onThrottled;
    const onAbort = () => {
      for (const { reject } of this.#waiting.splice(0)) reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
  }

  /** Resolves when the request may be sent, or with the answer that makes it needless. Rejects with the signal's reason. */
  async acquire({ family: name, isUrgent, knownAnswer }: PermitRequest<Answer>): Promise<Release | Answer> {
    this.#signal.throwIfAborted();
    const family = this.#families.get(name) ?? { window: undefined, inFlight: 0, isAsleep: false };
    this.#families.set(name, family);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ family, isUrgent, knownAnswer, resolve, reject });
      this.#grantWaiting();
    });
  }

  /** After a 429 because too many requests were in flight. */
  halveConcurrency(): void {
    this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2));
  }

  /** Time in which at least one family waited for its rate limit. */
  throttledMs(): number {
    return this.#throttledMs + (this.#asleep === 0 ? 0 : this.#clock.nowMs() - this.#asleepSinceMs);
  }

  /** The latest window of each family whose answers name one. */
  windows(): readonly FamilyWindow[] {
    return [...this.#families].flatMap(([family, { window }]) =>
      window === undefined || window === null || window.limit === 0 ? [] : [{ family, ...window }],
    );
  }

  /** Grants what the limits allow, in the order in which it came. */
  #grantWaiting(): void {
    this.#waiting = this.#waiting.filter((waiter) => !this.#tryGrant(waiter));
  }

  #tryGrant({ family, isUrgent, knownAnswer, resolve }: Waiter<Answer>): boolean {
    if (!isUrgent && this.#inFlight >= this.#concurrency) return false;
    const answer = knownAnswer();
    const untilMs = answer === null ? this.#blockedUntilMs(family) : 0;
    if (untilMs > 0) {
      if (untilMs < Number.POSITIVE_INFINITY) void this.#sleep(family, untilMs);
      return false;
    }
    resolve(answer ?? this.#begin(family, isUrgent));
    return true;
  }

  #begin(family: Family, isUrgent: boolean): Release {
    const count = (change: 1 | -1) => {
      family.inFlight += change;
      if (!isUrgent) this.#inFlight += change;
    };
    count(1);
    return (window) => {
      count(-1);
      this.#learn(family, window);
      this.#grantWaiting();
    };
  }

  /** Returns when the block ends: 0 without one, infinite where an answer in flight decides. */
  #blockedUntilMs({ window, inFlight }: Family): number {
    if (window === null) return 0;
    if (!this.#isOpen(window)) return inFlight === 0 ? 0 : Number.POSITIVE_INFINITY;
    if (window.remaining > inFlight) return 0;
    return window.remaining > 0 ? Number.POSITIVE_INFINITY : window.resetAtMs;
  }

  /** Answers overtake each other, and endpoints of one family may have limits of their own: the least that is left counts. */
  #learn(family: Family, window: RateWindow | null): void {
    const known = family.window;
    if (this.#isOpen(known)) {
      if (window === null || window.remaining > known.remaining) return;
      if (window.remaining === known.remaining && window.resetAtMs < known.resetAtMs) return;
    }
    family.window = window;
  }

  #isOpen(window: Family["window"]): window is RateWindow {
    return window !== undefined && window !== null && window.resetAtMs > this.#clock.nowMs();
  }

  async #sleep(family: Family, untilMs: number): Promise<void> {
    if (family.isAsleep) return;
    family.isAsleep = true;
    const nowMs = this.#clock.nowMs();
    if (this.#asleep++ === 0) this.#asleepSinceMs = nowMs;
    this.#onThrottled(untilMs - nowMs);
    try {
      await this.#clock.sleep(untilMs - nowMs, this.#signal);
    } catch {
      // The abort has rejected everything that waited.
    }
    this.#throttledMs += this.#asleep === 1 ? this.#clock.nowMs() - this.#asleepSinceMs : 0;
    this.#asleep--;
    family.isAsleep = false;
    this.#grantWaiting();
  }
}

interface Waiter<Answer extends object> extends Omit<PermitRequest<Answer>, "family"> {
  readonly family: Family;
  readonly resolve: (outcome: Release | Answer) => void;
  readonly reject: (reason: unknown) => void;
}

interface Family {
  /** The latest; undefined before the first answer, null when the last answer named none. */
  window: RateWindow | null | undefined;
  inFlight: number;
  isAsleep: boolean;
}
