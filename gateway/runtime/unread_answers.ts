import type { ServerResponse } from "node:http";
import type { Budget } from "../http/budget.ts";

/** A client that takes nothing of its answer for so long is gone, or means harm. */
const defaultMaxSilenceMs = 30_000;
const sweepMs = 500;

/**
 * Answers that their clients have not read yet, which wait in this process's memory. Closes those of which nothing is read for 30 s, and
 * the largest ones of a tenant whose share of `budget.unreadBytes` is used up by them.
 */
export class UnreadAnswers {
  readonly #budget: Budget;
  readonly #maxSilenceMs: number;
  readonly #answers = new Map<ServerResponse, string>();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(budget: Budget, maxSilenceMs = defaultMaxSilenceMs) {
    this.#budget = budget;
    this.#maxSilenceMs = maxSilenceMs;
  }

  /** From when the answer is made until its last byte was taken, or its connection is gone. */
  watch(outgoing: ServerResponse, holder: string): void {
    if (outgoing.destroyed || outgoing.writableFinished) return;
    this.#answers.set(outgoing, holder);
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    this.#timer.unref();
    // Counts from the last byte that the client took.
    outgoing.setTimeout(this.#maxSilenceMs, () => outgoing.destroy());
    outgoing.once("close", () => this.#forget(outgoing));
  }

  #forget(outgoing: ServerResponse): void {
    this.#answers.delete(outgoing);
    if (this.#answers.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #sweep(): void {
    const sizes = [...this.#answers].map(([outgoing, holder]) => ({
      outgoing,
      holder,
      bytes: outgoing.writableLength,
    }));
    // The largest last: they find their tenant's share taken.
    sizes.sort((one, other) => one.bytes - other.bytes);
    const taken: (() => void)[] = [];
    for (const { outgoing, holder, bytes } of sizes) {
      try {
        this.#budget.unreadBytes.take(holder, bytes);
        taken.push(() => this.#budget.unreadBytes.give(holder, bytes));
      } catch {
        outgoing.destroy();
      }
    }
    for (const give of taken) give();
  }
}
