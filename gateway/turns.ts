import { AppError } from "../shared/app_error.ts";

/** Longer than a burst takes, shorter than clients wait. */
const maxWaitMs = 2000;

const maxHolders = 10_000;

/** Runs so much at a time, and so much of each holder. The rest waits, 2 s at most, and the holder whose turns cost least is next. */
export function createTurns(max: number, maxPerHolder = max) {
  const waiting = new Map<string, Set<() => void>>();
  const running = new Map<string, number>();
  const costs = new Map<string, number>();
  /** Holders that have one turn at a time. */
  const single = new Set<string>();
  /**
   * The cost of the holder that was last in turn, with which new holders begin. It rises a little with each turn: otherwise new ones that
   * arrive without end would always come first.
   */
  let leastCost = 0;
  let free = max;

  return { run, charge, limitToOne };

  async function run<Result>(holder: string, work: () => Promise<Result>): Promise<Result> {
    if (hasTurn(holder)) begin(holder);
    else await wait(holder);
    try {
      return await work();
    } finally {
      end(holder);
    }
  }

  /**
   * Adds to the cost of a holder's turns. A turn after a wait costs 1; one at once is taken from nobody: all that wait have as many as
   * they may. Costs count while somebody waits.
   */
  function charge(holder: string, cost: number): void {
    if (waiting.size === 0 || costs.size >= maxHolders) costs.clear();
    costs.set(holder, costOf(holder) + cost);
  }

  /** From now on the holder has one turn at a time, or as many as each may. */
  function limitToOne(holder: string, isLimited: boolean): void {
    if (!isLimited) single.delete(holder);
    else if (single.size < maxHolders) single.add(holder);
  }

  /** A holder that was quiet has no more than the others have left. */
  function costOf(holder: string): number {
    return Math.max(leastCost, costs.get(holder) ?? 0);
  }

  function hasTurn(holder: string): boolean {
    const most = single.has(holder) ? 1 : maxPerHolder;
    return free > 0 && (running.get(holder) ?? 0) < most;
  }

  function begin(holder: string): void {
    free -= 1;
    running.set(holder, (running.get(holder) ?? 0) + 1);
  }

  function wait(holder: string): Promise<void> {
    const queue = waiting.get(holder) ?? new Set();
    waiting.set(holder, queue);
    return new Promise((resolve, reject) => {
      const resume = () => {
        clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        if (!queue.delete(resume)) return;
        if (queue.size === 0) waiting.delete(holder);
        reject(new AppError("unavailable", "The gateway is busy", { retryAfterSeconds: 2 }));
      };
      // After a long turn of the event loop, the answers that have come meanwhile are read first.
      const timer = setTimeout(() => afterReading(giveUp), maxWaitMs);
      queue.add(resume);
    });
  }

  function end(holder: string): void {
    free += 1;
    const left = (running.get(holder) ?? 0) - 1;
    if (left > 0) running.set(holder, left);
    else running.delete(holder);
    // More than one where a holder may have more again.
    for (let next = nextHolder(); next !== undefined; next = nextHolder()) beginWaiting(...next);
  }

  function beginWaiting(holder: string, queue: Set<() => void>): void {
    const [resume] = queue;
    if (resume !== undefined) queue.delete(resume);
    if (queue.size === 0) waiting.delete(holder);
    const cost = costOf(holder);
    charge(holder, 1);
    leastCost = cost + 1 / (waiting.size + 1);
    begin(holder);
    resume?.();
  }

  /** Among holders whose turns cost the same, the one that has waited longest. */
  function nextHolder(): [name: string, queue: Set<() => void>] | undefined {
    // Without a free turn, thousands who wait would be looked at for nothing.
    if (free === 0) return undefined;
    let next: [string, Set<() => void>] | undefined;
    for (const entry of waiting) {
      if (!hasTurn(entry[0])) continue;
      if (next === undefined || costOf(entry[0]) < costOf(next[0])) next = entry;
      // Nobody has less. Thousands may wait, and most of them have no more.
      if (costOf(next[0]) === leastCost) break;
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
