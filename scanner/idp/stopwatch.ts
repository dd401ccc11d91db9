/** How long something was the case, over however many times. */
export class Stopwatch {
  #sinceMs: number | null = null;
  #totalMs = 0;

  set(isRunning: boolean, nowMs: number): void {
    if (isRunning) this.#sinceMs ??= nowMs;
    if (isRunning || this.#sinceMs === null) return;
    this.#totalMs += nowMs - this.#sinceMs;
    this.#sinceMs = null;
  }

  totalMs(nowMs: number): number {
    return this.#totalMs + (this.#sinceMs === null ? 0 : nowMs - this.#sinceMs);
  }
}
