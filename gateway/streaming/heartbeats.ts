/** A stream that is looked at every now and then. */
export interface Beating {
  /** Which of the wheel's slots it is in; -1 while it is in none. Changed only by `Heartbeats`. */
  beatSlot: number;
  /** Must not throw. */
  beat(nowMs: number): void;
}

/** Spread over the round, so that fifty thousand streams are not written to in one turn. */
const slotCount = 12;

/**
 * One timer for the heartbeats of all streams. Each stream is looked at once a round, and is to write when it would
 * otherwise be silent for longer than the heartbeat before the next look.
 */
export class Heartbeats {
  /** A stream that has been idle for this long when it is looked at writes its heartbeat. */
  readonly idleMs: number;
  readonly #tickMs: number;
  readonly #slots: readonly Set<Beating>[] = Array.from({ length: slotCount }, () => new Set<Beating>());
  readonly #now: () => number;
  #size = 0;
  #nextSlot = 0;
  #current = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(heartbeatMs: number, now: () => number) {
    // A comment comes after 0.65 to 0.85 of the heartbeat: the rest is for a busy event loop.
    const roundMs = heartbeatMs * 0.2;
    this.idleMs = heartbeatMs * 0.65;
    this.#tickMs = Math.max(1, Math.min(roundMs / slotCount, maxTickMs));
    this.#now = now;
  }

  add(item: Beating): void {
    if (item.beatSlot !== -1) return;
    item.beatSlot = this.#nextSlot;
    this.#slots[item.beatSlot]?.add(item);
    this.#nextSlot = (this.#nextSlot + 1) % slotCount;
    this.#size += 1;
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs);
  }

  remove(item: Beating): void {
    if (item.beatSlot === -1) return;
    this.#slots[item.beatSlot]?.delete(item);
    item.beatSlot = -1;
    this.#size -= 1;
    if (this.#size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    this.#current = (this.#current + 1) % slotCount;
    const nowMs = this.#now();
    for (const item of this.#slots[this.#current] ?? []) item.beat(nowMs);
  }
}

const maxTickMs = 60_000;
