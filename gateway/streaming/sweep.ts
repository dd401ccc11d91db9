/** A stream, or a tenant's recheck: it looks for itself at what is due. */
export interface SweepTarget {
  /** Must not throw. */
  onSweep(nowMs: number): void;
}

/** One timer for everything that is due some time: heartbeats, ends, last bytes and rechecks. It runs while there is a target. */
export class Sweep {
  readonly #targets = new Set<SweepTarget>();
  readonly #everyMs: number;
  readonly #now: () => number;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(everyMs: number, now: () => number) {
    this.#everyMs = everyMs;
    this.#now = now;
  }

  add(target: SweepTarget): void {
    this.#targets.add(target);
    this.#timer ??= setInterval(() => this.#run(), this.#everyMs);
  }

  remove(target: SweepTarget): void {
    this.#targets.delete(target);
    if (this.#targets.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #run(): void {
    const nowMs = this.#now();
    for (const target of this.#targets) target.onSweep(nowMs);
  }
}
