/** How long something was the case, over however many times. */
export class Stopwatch {
  #sinceMs: number | null = null;
  #totalMs = 0;

  start(nowMs: number): void {
    this.#sinceMs ??= nowMs;
  }

  stop(nowMs: number): void {
    this.#totalMs = this.totalMs(nowMs);
    this.#sinceMs = null;
  }

  totalMs(nowMs: number): number {
    return this.#totalMs + (this.#sinceMs === null ? 0 : nowMs - this.#sinceMs);
  }
}
