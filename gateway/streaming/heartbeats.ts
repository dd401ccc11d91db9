/** A stream that is visited once a round, to write a heartbeat when it is idle. */
export interface HeartbeatTarget {
  /** Its slot of the timer wheel; -1 while it is in none. Changed only by `Heartbeats`. */
  wheelSlot: number;
  /** Must not throw. */
  onHeartbeatTick(nowMs: number): void;
}

/** Spread over the round, so that fifty thousand streams are not written to in one turn. */
const slotCount = 12;
const maxTickMs = 60_000;

/**
 * One timer wheel for the heartbeats of all streams. Each stream is visited once a round, and writes when it would otherwise
 * be idle for longer than the heartbeat before the next visit.
 */
export class Heartbeats {
  /** A stream that has been idle for this long at a tick writes its heartbeat. */
  readonly idleMs: number;
  readonly #tickMs: number;
  readonly #slots: readonly Set<HeartbeatTarget>[] = Array.from(
    { length: slotCount },
    () => new Set<HeartbeatTarget>(),
  );
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

  add(target: HeartbeatTarget): void {
    if (target.wheelSlot !== -1) return;
    target.wheelSlot = this.#nextSlot;
    this.#slots[target.wheelSlot]?.add(target);
    this.#nextSlot = (this.#nextSlot + 1) % slotCount;
    this.#size += 1;
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs);
  }

  remove(target: HeartbeatTarget): void {
    if (target.wheelSlot === -1) return;
    this.#slots[target.wheelSlot]?.delete(target);
    target.wheelSlot = -1;
    this.#size -= 1;
    if (this.#size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    this.#current = (this.#current + 1) % slotCount;
    const nowMs = this.#now();
    for (const target of this.#slots[this.#current] ?? []) target.onHeartbeatTick(nowMs);
  }
}
