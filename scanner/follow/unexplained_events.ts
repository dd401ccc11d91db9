import type { FailedPath } from "../evidence/remembered_answers.ts";
import type { Relevant } from "./explanations.ts";

/** While events of one transaction may still come, for so long at the most. */
export const settleMs = 5000;
/** Delay before evidence that could not be collected again is tried again. */
const retryMs = 45_000;
/** Events that are kept to explain a change that is seen later. */
const maxKept = 500;

/** Events that may explain a change which is not seen yet, and when to look for it again. */
export class UnexplainedEvents {
  /** For transactions that may go on. */
  #recent: readonly Relevant[] = [];
  /** Their artifacts could not be collected again yet. */
  #waiting: readonly Relevant[] = [];
  #retryAtMs: number | null = null;
  #retries = 0;

  get recent(): readonly Relevant[] {
    return this.#recent;
  }

  get retryAtMs(): number | null {
    return this.#retryAtMs;
  }

  /** The events that a retry is for; null while none is due. */
  takeRetry(nowMs: number): readonly Relevant[] | null {
    if (this.#retryAtMs === null || nowMs < this.#retryAtMs) return null;
    this.#retries++;
    return this.#waiting;
  }

  /** After a round: the ones that explained nothing yet are kept while they may, and what failed is planned again. */
  keep(
    events: readonly Relevant[],
    round: {
      readonly used: ReadonlySet<Relevant>;
      readonly failed: readonly FailedPath[];
      readonly intervalMs: number;
      readonly nowMs: number;
    },
  ): void {
    const { used, failed, intervalMs, nowMs } = round;
    this.#recent = [...this.#recent, ...events]
      .filter((event) => !used.has(event) && nowMs - event.seenAtMs < settleMs + intervalMs)
      .slice(-maxKept);
    if (failed.length === 0) {
      this.#waiting = [];
      this.#retryAtMs = null;
      this.#retries = 0;
      return;
    }
    this.#waiting = [...new Set([...this.#waiting, ...events])].slice(-maxKept);
    this.planRetry(failed, nowMs);
  }

  /** Plans a retry. Evidence that was never obtained is not tried each minute until the next reconciliation: it may never be there. */
  planRetry(failed: readonly FailedPath[], nowMs: number): void {
    if (failed.length === 0) return;
    const delayMs = failed.some(({ wasObtained }) => wasObtained)
      ? retryMs
      : retryMs * 2 ** Math.min(this.#retries, 20);
    const isPlanned = this.#retryAtMs !== null && this.#retryAtMs > nowMs;
    if (!isPlanned) this.#retryAtMs = nowMs + delayMs;
  }
}
