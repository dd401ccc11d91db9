import { AppError } from "./app_error.ts";

export interface FairShareOptions {
  /** How much there is for all together. */
  readonly max: number;
  /** As in `"Too many <what>"`, for whoever is refused. */
  readonly what: string;
  /** From 0 inclusive to 1 exclusive. */
  readonly random?: () => number;
}

/** A holder may have this many times what is still free: one alone has at most 80 % of all, two have 44 % each. Its first piece it gets while there is room. */
export const timesFree = 4;

/** A part of all that the first pieces of holders leave free, unless they are small: a few large ones would else shut everybody out. */
const reservePart = 8;
const smallPieces = 512;

/**
 * Something of which a process has only so much (requests, bytes), held by tenants. Whoever holds much is refused before there is
 * nothing left, so that a tenant who holds little always finds some. The bound moves with what is free, so that nothing is kept
 * back for tenants who are not there (dynamic thresholds, as switches share the memory of their queues).
 */
export class FairShare {
  readonly max: number;
  readonly #what: string;
  readonly #random: () => number;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor({ max, what, random = Math.random }: FairShareOptions) {
    this.max = max;
    this.#what = what;
    this.#random = random;
  }

  /** For all holders together. */
  get total(): number {
    return this.#total;
  }

  /** Whether the holder has more than its share now that others hold something, too. */
  isOver(holder: string): boolean {
    return (this.#held.get(holder) ?? 0) > timesFree * (this.max - this.#total);
  }

  /**
   * Throws `AppError` with a time to try again: `too_many` where the holder has its share already, `unavailable` where everything is
   * held. What was taken is given back by `give`.
   */
  take(holder: string, amount = 1): void {
    const held = (this.#held.get(holder) ?? 0) + amount;
    const free = this.max - this.#total - amount;
    // Spread, so that those who are refused together do not come back together.
    const retryAfterSeconds = 1 + Math.floor(this.#random() * 4);
    const isLarge = amount > Math.max(1, this.max / smallPieces);
    if (held === amount && free < (isLarge ? this.max / reservePart : 0)) {
      throw new AppError("unavailable", `Too many ${this.#what}: the gateway is busy`, { retryAfterSeconds });
    }
    if (held > amount && held > timesFree * free) {
      throw new AppError("too_many", `Too many ${this.#what} of this tenant at the same time`, { retryAfterSeconds });
    }
    this.#total += amount;
    this.#held.set(holder, held);
  }

  give(holder: string, amount = 1): void {
    const held = (this.#held.get(holder) ?? 0) - amount;
    this.#total -= amount;
    if (held > 0) this.#held.set(holder, held);
    else this.#held.delete(holder);
  }
}
