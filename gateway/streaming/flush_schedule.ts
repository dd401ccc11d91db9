import { nextTurn } from "../next_turn.ts";

/** A flush that took so long had many streams: to write to each of them once instead of twice is worth a wait. */
const minBehindMs = 2;
const maxJoinMs = 5;
/** A publisher that is only late now and then makes fewer waits in a row in vain. */
const maxVainWaits = 3;
/** This many events at most do not wait after that, so that a publisher that has become faster is noticed within a second. */
const maxSkips = 31;

/**
 * When the events that have arrived are written. As a rule everything that arrives in one turn of the event loop is written at
 * its end. What arrives right after a flush may have come while that was running, and shows then that events come faster than
 * they are written: the first of them waits for a second one of its channel, for as long as that flush took and at most 5 ms.
 * Or it was published because the one before had been received, and no second one comes: after a few waits in vain the next
 * is later each time.
 */
export class FlushSchedule {
  readonly #flush: () => void;
  readonly #now: () => number;
  /** Runs while events wait for more. */
  #joinTimer: ReturnType<typeof setTimeout> | null = null;
  #endMs = -Infinity;
  #tookMs = 0;
  /** Waits in vain since the last that was not. */
  #vainWaits = 0;
  /** Events that do not wait before one does again. */
  #skips = 0;

  /** `flush` calls `flushed` when it is done; it may be called with nothing to write. */
  constructor(flush: () => void, now: () => number) {
    this.#flush = flush;
    this.#now = now;
  }

  /** The first event since the last flush has arrived. */
  begin(): void {
    const isBehind = this.#tookMs >= minBehindMs && this.#now() - this.#endMs <= 1;
    if (isBehind && this.#skips === 0) {
      this.#joinTimer = setTimeout(() => this.#waitedInVain(), Math.min(this.#tookMs, maxJoinMs));
      return;
    }
    if (isBehind) this.#skips -= 1;
    nextTurn(this.#flush);
  }

  /** One more event of a channel that has one already. */
  joined(): void {
    if (this.#joinTimer === null) return;
    this.stop();
    this.#vainWaits = 0;
    nextTurn(this.#flush);
  }

  flushed(beganMs: number): void {
    this.stop();
    this.#endMs = this.#now();
    this.#tookMs = this.#endMs - beganMs;
  }

  #waitedInVain(): void {
    this.#vainWaits += 1;
    this.#skips = Math.min(2 ** Math.max(this.#vainWaits - maxVainWaits, 0) - 1, maxSkips);
    this.#flush();
  }

  stop(): void {
    if (this.#joinTimer !== null) clearTimeout(this.#joinTimer);
    this.#joinTimer = null;
  }
}
