import { AppError } from "../shared/app_error.ts";

/** Longer than a burst takes, shorter than clients wait. */
const maxWaitMs = 2000;

const maxHolders = 10_000;

/** Runs so much at a time, and so much of each holder. The rest waits, 2 s at most, and the holder whose turns cost least is next. */
export class Turns {
  readonly #maxPerHolder: number;
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #running = new Map<string, number>();
  readonly #costs = new Map<string, number>();
  /** Holders that have one turn at a time. */
  readonly #single = new Set<string>();
  /**
   * The cost of the holder that was last in turn, with which new holders begin. It rises a little with each turn: otherwise new ones that
   * arrive without end would always come first.
   */
  #leastCost = 0;
  #free: number;

  constructor(max: number, maxPerHolder = max) {
    this.#free = max;
    this.#maxPerHolder = maxPerHolder;
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

  /**
   * Adds to the cost of a holder's turns. A turn after a wait costs 1; one at once is taken from nobody: all that wait have as many as
   * they may. Costs count while somebody waits.
   */
  charge(holder: string, cost: number): void {
    if (this.#waiting.size === 0 || this.#costs.size >= maxHolders) this.#costs.clear();
    this.#costs.set(holder, this.#costOf(holder) + cost);
  }

  /** From now on the holder has one turn at a time, or as many as each may. */
  limitToOne(holder: string, isLimited: boolean): void {
    if (!isLimited) this.#single.delete(holder);
    else if (this.#single.size < maxHolders) this.#single.add(holder);
  }

  /** A holder that was quiet has no more than the others have left. */
  #costOf(holder: string): number {
    return Math.max(this.#leastCost, this.#costs.get(holder) ?? 0);
  }

  #hasTurn(holder: string): boolean {
    const max = this.#single.has(holder) ? 1 : this.#maxPerHolder;
    return this.#free > 0 && (this.#running.get(holder) ?? 0) < max;
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
        reject(new AppError("unavailable", "The gateway is busy", { retryAfterSeconds: 2 }));
      };
      // After a long turn of the event loop, the answers that have come meanwhile are read first.
      const timer = setTimeout(() => afterReading(giveUp), maxWaitMs);
      queue.add(begin);
    });
  }

  #end(holder: string): void {
    this.#free += 1;
    const running = (this.#running.get(holder) ?? 0) - 1;
    if (running > 0) this.#running.set(holder, running);
    else this.#running.delete(holder);
    // More than one where a holder may have more again.
    while (this.#free > 0) {
      const next = this.#nextHolder();
      if (next === undefined) return;
      this.#beginWaiting(...next);
    }
  }

  #beginWaiting(holder: string, queue: Set<() => void>): void {
    const [begin] = queue;
    if (begin !== undefined) queue.delete(begin);
    if (queue.size === 0) this.#waiting.delete(holder);
    const cost = this.#costOf(holder);
    this.charge(holder, 1);
    this.#leastCost = cost + 1 / (this.#waiting.size + 1);
    this.#begin(holder);
    begin?.();
  }

  /** Among holders whose turns cost the same, the one that has waited longest. */
  #nextHolder(): [name: string, queue: Set<() => void>] | undefined {
    let next: [string, Set<() => void>] | undefined;
    for (const waiting of this.#waiting) {
      if (!this.#hasTurn(waiting[0])) continue;
      if (next === undefined || this.#costOf(waiting[0]) < this.#costOf(next[0])) next = waiting;
      // Nobody has less. Thousands may wait, and most of them have no more.
      if (this.#costOf(next[0]) === this.#leastCost) break;
    }
    return next;
  }
}

interface Runtime {
  readonly setImmediate?: (callback: () => void) => unknown;
  readonly Deno?: object;
}

/** The callback runs after this turn of the event loop: `setImmediate`; a timer where a runtime has none. */
export function nextTurn(callback: () => void): void {
  const { setImmediate: immediate } = globalThis as Runtime;
  if (immediate === undefined) setTimeout(callback, 0);
  else immediate(callback);
}

/** For so long, sockets may go unread on Deno. */
const unreadMs = 2;
let readAtMs = 0;

/** As `nextTurn`, and all sockets are read soon. Deno reads none while a hundred immediates follow each other, and all before a timer. */
export function afterReading(callback: () => void): void {
  const isDeno = (globalThis as Runtime).Deno !== undefined;
  if (!isDeno || performance.now() - readAtMs < unreadMs) return nextTurn(callback);
  setTimeout(() => {
    readAtMs = performance.now();
    callback();
  }, 0);
}
