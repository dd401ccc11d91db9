/** This many streams are opened a second at least: what is assumed before a storm has been measured. */
const leastPerSecond = 200;
const windowMs = 1000;
const shortestMs = 2000;
/** Clients that are told to stay away for longer take the service for broken. */
const longestMs = 60_000;

/**
 * When clients that are refused in a storm are to come back: one after the other, at the rate at which streams are being opened.
 * So each is refused about once, and what opens streams is not kept busy with refusing.
 */
export class RetryAfterSchedule {
  readonly #now: () => number;
  #windowFromMs = 0;
  #openedInWindow = 0;
  #perSecond = leastPerSecond;
  /** When the last client that was refused is to come back. */
  #lastMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  countOpened(): void {
    const elapsedMs = this.#now() - this.#windowFromMs;
    if (elapsedMs >= windowMs) {
      // After a pause nothing is known of the rate.
      const perSecond = elapsedMs < 2 * windowMs ? (this.#openedInWindow * 1000) / elapsedMs : 0;
      this.#perSecond = Math.max(leastPerSecond, perSecond);
      this.#openedInWindow = 0;
      this.#windowFromMs += elapsedMs;
    }
    this.#openedInWindow += 1;
  }

  /** The whole seconds after which the next client that is refused is to come back, behind this many that are being opened. */
  next(opening: number): number {
    const nowMs = this.#now();
    const eachMs = 1000 / this.#perSecond;
    const lastMs = Math.max(this.#lastMs, nowMs + opening * eachMs, nowMs + shortestMs) + eachMs;
    // Beyond the longest they begin anew, so that they do not all come at its end.
    this.#lastMs = lastMs - nowMs > longestMs ? nowMs + longestMs / 2 : lastMs;
    return Math.round((this.#lastMs - nowMs) / 1000);
  }
}
