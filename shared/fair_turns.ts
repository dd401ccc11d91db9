/**
 * Runs so many pieces of work at a time. What waits is served in turns: one of each holder, however many a holder has waiting, and
 * those of one holder in their order.
 */
export class FairTurns {
  readonly #atOnce: number;
  /** A map gives its keys in the order in which they were set: the first has waited longest for its turn. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  async run<Result>(holder: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#atOnce) this.#running += 1;
    else await new Promise<void>((begin) => this.#queueOf(holder).push(begin));
    try {
      return await work();
    } finally {
      this.#next();
    }
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
