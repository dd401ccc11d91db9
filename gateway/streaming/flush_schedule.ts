/** A flush that took so long had many streams: to write to each of them once instead of twice is worth a wait. */
const minBehindMs = 2;
const maxJoinMs = 5;

/**
 * When the events that have arrived are written. As a rule everything that arrives in one turn of the event loop is written at
 * its end. What arrived while the flush before was running shows that events come faster than they are written: then the
 * first of them waits for a second one of its channel, for as long as that flush took and at most 5 ms.
 */
export class FlushSchedule {
  readonly #flush: () => void;
  readonly #now: () => number;
  /** Runs while events wait for more. */
  #joinTimer: ReturnType<typeof setTimeout> | null = null;
  #endMs = -Infinity;
  #tookMs = 0;

  /** `flush` calls `flushed` when it is done; it may be called with nothing to write. */
  constructor(flush: () => void, now: () => number) {
    this.#flush = flush;
    this.#now = now;
  }

  /** The first event since the last flush has arrived. */
  begin(): void {
    const isBehind = this.#tookMs >= minBehindMs && this.#now() - this.#endMs <= 1;
    if (isBehind) this.#joinTimer = setTimeout(this.#flush, Math.min(this.#tookMs, maxJoinMs));
    else nextTurn(this.#flush);
  }

  /** One more event of a channel that has one already. */
  joined(): void {
    if (this.#joinTimer === null) return;
    this.stop();
    nextTurn(this.#flush);
  }

  flushed(beganMs: number): void {
    this.stop();
    this.#endMs = this.#now();
    this.#tookMs = this.#endMs - beganMs;
  }

  stop(): void {
    if (this.#joinTimer !== null) clearTimeout(this.#joinTimer);
    this.#joinTimer = null;
  }
}

/**
 * Everything that arrives before the callback is written as one chunk: `setImmediate` runs after all of a turn's input was
 * read; where a runtime has none, a timer does.
 */
function nextTurn(callback: () => void): void {
  const { setImmediate: immediate } = globalThis as { readonly setImmediate?: (callback: () => void) => unknown };
  if (immediate === undefined) setTimeout(callback, 0);
  else immediate(callback);
}
