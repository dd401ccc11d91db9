import { timesFree } from "./fair_share.ts";

export interface FairTurnsOptions {
  /** What waits longer for its turn is not run. Default: it waits. */
  readonly maxWaitMs?: number;
  /** What `run` rejects with then. */
  readonly toLate?: () => Error;
}

/**
 * Runs this many pieces of work at a time. What waits is served in turns: one of each holder, however many a holder has waiting, and
 * those of one holder in their order. A holder has its share at most (`fair_share.ts`), so that slow work of one tenant leaves a
 * place for everybody else: of ten at once a holder alone runs eight, and three run three each.
 */
export class FairTurns {
  readonly #maxWaitMs: number;
  readonly #toLate: () => Error;
  /** A map gives its keys in the order in which they were set: the first has waited longest for its turn. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #running = new Map<string, number>();
  #free: number;

  constructor(
    atOnce: number,
    { maxWaitMs = Infinity, toLate = () => new Error("It waited too long") }: FairTurnsOptions = {},
  ) {
    this.#free = atOnce;
    this.#maxWaitMs = maxWaitMs;
    this.#toLate = toLate;
  }

  async run<Result>(holder: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#hasTurn(holder)) this.#take(holder);
    else await this.#turn(holder);
    try {
      return await work();
    } finally {
      this.#give(holder);
    }
  }

  #hasTurn(holder: string): boolean {
    const running = this.#running.get(holder) ?? 0;
    return this.#free > 0 && (running === 0 || running < timesFree * (this.#free - 1));
  }

  #take(holder: string): void {
    this.#free -= 1;
    this.#running.set(holder, (this.#running.get(holder) ?? 0) + 1);
  }

  #give(holder: string): void {
    this.#free += 1;
    const running = (this.#running.get(holder) ?? 0) - 1;
    if (running > 0) this.#running.set(holder, running);
    else this.#running.delete(holder);
    this.#next();
  }

  #turn(holder: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#queueOf(holder);
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const late = () => {
        queue.splice(queue.indexOf(begin), 1);
        if (queue.length === 0) this.#waiting.delete(holder);
        reject(this.#toLate());
      };
      const timer = this.#maxWaitMs === Infinity ? undefined : setTimeout(late, this.#maxWaitMs);
      queue.push(begin);
    });
  }

  #queueOf(holder: string): (() => void)[] {
    const queue = this.#waiting.get(holder) ?? [];
    this.#waiting.set(holder, queue);
    return queue;
  }

  #next(): void {
    for (const [holder, queue] of this.#waiting) {
      if (!this.#hasTurn(holder)) continue;
      const begin = queue.shift();
      // Behind all others, if more is waiting.
      this.#waiting.delete(holder);
      if (queue.length > 0) this.#waiting.set(holder, queue);
      this.#take(holder);
      begin?.();
      if (this.#free === 0) return;
    }
  }
}
