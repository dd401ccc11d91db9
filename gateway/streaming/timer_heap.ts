/** A task with a time to run at; it is in at most one `TimerHeap`. */
export interface ScheduledTask {
  /** In milliseconds since the epoch. Changed only by `TimerHeap`. */
  dueMs: number;
  /** Its index in the heap; -1 while it is in none. Changed only by `TimerHeap`. */
  heapIndex: number;
  /** Called when it is due, after it was taken out. May set a new time; must not throw. */
  run(nowMs: number): void;
}

/** Every expiry, lifetime and recheck of the process under one timer: a binary heap, earliest first. */
export class TimerHeap {
  readonly #heap: ScheduledTask[] = [];
  readonly #now: () => number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #timerDueMs = Infinity;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Adds or moves the task. */
  set(task: ScheduledTask, dueMs: number): void {
    task.dueMs = dueMs;
    if (task.heapIndex === -1) task.heapIndex = this.#heap.push(task) - 1;
    this.#reheap(task);
    this.#arm();
  }

  remove(task: ScheduledTask): void {
    const index = task.heapIndex;
    if (index === -1) return;
    task.heapIndex = -1;
    const last = this.#heap.pop();
    if (last !== undefined && last !== task) {
      this.#put(last, index);
      this.#reheap(last);
    }
    this.#arm();
  }

  /** Drops every task, so that no timer keeps the process alive. */
  clear(): void {
    for (const task of this.#heap) task.heapIndex = -1;
    this.#heap.length = 0;
    this.#arm();
  }

  /** Letting a timer fire too early is cheaper than moving it with every change. */
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
    // Suppresses `#arm` while this loop removes tasks.
    this.#timerDueMs = -Infinity;
    const nowMs = this.#now();
    for (let first = this.#heap[0]; first !== undefined && first.dueMs <= nowMs; first = this.#heap[0]) {
      this.remove(first);
      first.run(nowMs);
    }
    this.#timerDueMs = Infinity;
    this.#arm();
  }

  #reheap(task: ScheduledTask): void {
    this.#rise(task);
    this.#sink(task);
  }

  #rise(task: ScheduledTask): void {
    while (task.heapIndex > 0) {
      const index = task.heapIndex;
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex];
      if (parent === undefined || parent.dueMs <= task.dueMs) return;
      this.#put(parent, index);
      this.#put(task, parentIndex);
    }
  }

  #sink(task: ScheduledTask): void {
    for (;;) {
      const index = task.heapIndex;
      const left = this.#heap[2 * index + 1];
      const right = this.#heap[2 * index + 2];
      const child = right !== undefined && left !== undefined && right.dueMs < left.dueMs ? right : left;
      if (child === undefined || task.dueMs <= child.dueMs) return;
      const childIndex = child.heapIndex;
      this.#put(child, index);
      this.#put(task, childIndex);
    }
  }

  #put(task: ScheduledTask, index: number): void {
    this.#heap[index] = task;
    task.heapIndex = index;
  }
}

const maxTimerMs = 2_000_000_000;
