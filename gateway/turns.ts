import type { AppError } from "../shared/app_error.ts";

/** Longer than a burst takes, shorter than clients wait. */
export const maxWaitMs = 2000;

/** Runs so much at a time, and so much of each holder. The rest waits, 2 s at most, and holders take turns. */
export class Turns {
  readonly #maxPerHolder: number;
  readonly #toLate: () => AppError;
  /** A map gives its keys in the order in which they were set: the first holder has waited longest for its turn. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #running = new Map<string, number>();
  #free: number;

  constructor(max: number, maxPerHolder: number, toLate: () => AppError) {
    this.#free = max;
    this.#maxPerHolder = maxPerHolder;
    this.#toLate = toLate;
  }

  async run<Result>(holder: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#hasTurn(holder)) this.#begin(holder);
    else await this.#wait(holder);
    try {
      return await work();
    } finally {
      this.#end(holder);
    }
  }

  #hasTurn(holder: string): boolean {
    return this.#free > 0 && (this.#running.get(holder) ?? 0) < this.#maxPerHolder;
  }

  #begin(holder: string): void {
    this.#free -= 1;
    this.#running.set(holder, (this.#running.get(holder) ?? 0) + 1);
  }

  #wait(holder: string): Promise<void> {
    const queue = this.#waiting.get(holder) ?? new Set();
    this.#waiting.set(holder, queue);
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        if (!queue.delete(begin)) return;
        if (queue.size === 0) this.#waiting.delete(holder);
        reject(this.#toLate());
      };
      // After a long turn of the event loop, the answers that have come meanwhile are read first.
      const timer = setTimeout(() => nextTurn(giveUp), maxWaitMs);
      queue.add(begin);
    });
  }

  #end(holder: string): void {
    this.#free += 1;
    const running = (this.#running.get(holder) ?? 0) - 1;
    if (running > 0) this.#running.set(holder, running);
    else this.#running.delete(holder);
    for (const [next, queue] of this.#waiting) {
      if (!this.#hasTurn(next)) continue;
      const [begin] = queue;
      if (begin !== undefined) queue.delete(begin);
      // Moves to the end of the turns, if more of it waits.
      this.#waiting.delete(next);
      if (queue.size > 0) this.#waiting.set(next, queue);
      this.#begin(next);
      begin?.();
      return;
    }
  }
}

interface Immediates {
  readonly setImmediate?: (callback: () => void) => unknown;
}

/** The callback runs after all of a turn's input was read: `setImmediate`; where a runtime has none, a timer. */
export function nextTurn(callback: () => void): void {
  const { setImmediate: immediate } = globalThis as Immediates;
  if (immediate === undefined) setTimeout(callback, 0);
  else immediate(callback);
}
