export interface FairTurnsOptions {
  /** What waits longer for its turn is not run. Default: it waits. */
  readonly maxWaitMs?: number;
  /** What `run` rejects with then. */
  readonly toLate?: () => Error;
}

/**
 * Runs this many pieces of work at a time. What waits is served in turns: one of each holder, however many a holder has waiting, and
 * those of one holder in their order.
 */
export class FairTurns {
  readonly #atOnce: number;
  readonly #maxWaitMs: number;
  readonly #toLate: () => Error;
  /** A map gives its keys in the order in which they were set: the first has waited longest for its turn. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(
    atOnce: number,
    { maxWaitMs = Infinity, toLate = () => new Error("It waited too long") }: FairTurnsOptions = {},
  ) {
    this.#atOnce = atOnce;
    this.#maxWaitMs = maxWaitMs;
    this.#toLate = toLate;
  }

  async run<Result>(holder: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#atOnce) this.#running += 1;
    else await this.#turn(holder);
    try {
      return await work();
    } finally {
      this.#next();
    }
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
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#running -= 1;
      return;
    }
    const [holder, queue] = first;
    const begin = queue.shift();
    // Behind all others, if more is waiting.
    this.#waiting.delete(holder);
    if (queue.length > 0) this.#waiting.set(holder, queue);
    begin?.();
  }
}
