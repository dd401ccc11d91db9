/** Something that is due at some time; it is in at most one `Deadlines`. */
export interface Due {
  /** In milliseconds since the epoch. Changed only by `Deadlines`. */
  dueMs: number;
  /** Its place in the heap; -1 while it is in none. Changed only by `Deadlines`. */
  dueIndex: number;
  /** Called once the time has come, and after it was taken out. May set a new time; must not throw. */
  due(nowMs: number): void;
}

/** Every expiry, lifetime and recheck of the process under one timer: a binary heap, earliest first. */
export class Deadlines {
  readonly #heap: Due[] = [];
  readonly #now: () => number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #timerDueMs = Infinity;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Puts it in, or moves it. */
  set(item: Due, dueMs: number): void {
    item.dueMs = dueMs;
    if (item.dueIndex === -1) item.dueIndex = this.#heap.push(item) - 1;
    this.#settle(item);
    this.#arm();
  }

  remove(item: Due): void {
    const index = item.dueIndex;
    if (index === -1) return;
    item.dueIndex = -1;
    const last = this.#heap.pop();
    if (last !== undefined && last !== item) {
      this.#put(last, index);
      this.#settle(last);
    }
    this.#arm();
  }

  /** Nothing is due any more, and no timer keeps the process alive. */
  clear(): void {
    for (const item of this.#heap) item.dueIndex = -1;
    this.#heap.length = 0;
    this.#arm();
  }

  /** A timer that only turns out to be early is cheaper than one that is moved with every change. */
  #arm(): void {
    const first = this.#heap[0];
    if (first === undefined) {
      if (this.#timer !== null) clearTimeout(this.#timer);
      this.#timer = null;
      this.#timerDueMs = Infinity;
    } else if (first.dueMs < this.#timerDueMs) {
      if (this.#timer !== null) clearTimeout(this.#timer);
      this.#timerDueMs = first.dueMs;
      // Longer waits overflow the runtimes' timers and would fire at once; shorter ones could spin without arriving.
      const waitMs = Math.min(Math.max(1, Math.ceil(first.dueMs - this.#now())), maxTimerMs);
      this.#timer = setTimeout(() => this.#fire(), waitMs);
    }
  }

  #fire(): void {
    this.#timer = null;
    // No timer is set for what is taken out in this very loop.
    this.#timerDueMs = -Infinity;
    const nowMs = this.#now();
    for (let first = this.#heap[0]; first !== undefined && first.dueMs <= nowMs; first = this.#heap[0]) {
      this.remove(first);
      first.due(nowMs);
    }
    this.#timerDueMs = Infinity;
    this.#arm();
  }

  #settle(item: Due): void {
    this.#rise(item);
    this.#sink(item);
  }

  #rise(item: Due): void {
    while (item.dueIndex > 0) {
      const index = item.dueIndex;
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex];
      if (parent === undefined || parent.dueMs <= item.dueMs) return;
      this.#put(parent, index);
      this.#put(item, parentIndex);
    }
  }

  #sink(item: Due): void {
    for (;;) {
      const index = item.dueIndex;
      const left = this.#heap[2 * index + 1];
      const right = this.#heap[2 * index + 2];
      const child = right !== undefined && left !== undefined && right.dueMs < left.dueMs ? right : left;
      if (child === undefined || item.dueMs <= child.dueMs) return;
      const childIndex = child.dueIndex;
      this.#put(child, index);
      this.#put(item, childIndex);
    }
  }

  #put(item: Due, index: number): void {
    this.#heap[index] = item;
    item.dueIndex = index;
  }
}

const maxTimerMs = 2_000_000_000;
