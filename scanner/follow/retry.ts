import type { FailedPath } from "../evidence/remembered_answers.ts";
import type { Relevant } from "./explanations.ts";

/** Delay before evidence that could not be collected again is tried again. */
const retryMs = 45_000;
/** Events that are kept to explain a change that is seen later. */
const maxKept = 500;

/** When to collect again what failed, and the events that may explain what is seen then. */
export class Retry {
  #events: readonly Relevant[] = [];
  #atMs: number | null = null;
  #count = 0;

  get atMs(): number | null {
    return this.#atMs;
  }

  /** The events that a retry is for; null while none is due. */
  take(nowMs: number): readonly Relevant[] | null {
    if (this.#atMs === null || nowMs < this.#atMs) return null;
    this.#count++;
    return this.#events;
  }

  /** After a round. Evidence that was never obtained is not tried each minute until the next reconciliation: it may never be there. */
  plan(failed: readonly FailedPath[], events: readonly Relevant[], nowMs: number): void {
    if (failed.length === 0) {
      [this.#events, this.#atMs, this.#count] = [[], null, 0];
      return;
    }
    this.#events = [...new Set([...this.#events, ...events])].slice(-maxKept);
    if (this.#atMs !== null && this.#atMs > nowMs) return;
    this.#atMs =
      nowMs + (failed.some(({ wasObtained }) => wasObtained) ? retryMs : retryMs * 2 ** Math.min(this.#count, 20));
  }
}
