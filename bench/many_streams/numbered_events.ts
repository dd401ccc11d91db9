import { scanIdOf, type Backends, type ProgressEvent } from "../backends.ts";
import { nowNs } from "../bench_server.ts";

/** Publishes events that say which number of their scan they are, and when it and the one before were published. */
export class NumberedEvents {
  readonly #backends: Backends;
  readonly #scans: number;
  readonly #counts: number[];
  readonly #lastNs: number[];
  #nextScan = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  /** For scan 0 and this many others. */
  constructor(backends: Backends, scans: number) {
    this.#backends = backends;
    this.#scans = scans;
    this.#counts = Array.from({ length: scans + 1 }, () => 0);
    this.#lastNs = Array.from({ length: scans + 1 }, () => 0);
  }

  /** The number of the last event of scan 0. */
  get sharedNumber(): number {
    return this.#counts[0] ?? 0;
  }

  /** An event of scan 0; returns when, in ns since the epoch. */
  publishToAll(): number {
    const event = this.#next(0);
    this.#backends.send([event]);
    return this.#lastNs[0] ?? 0;
  }

  /** This many events a second over the other scans in turn, and one of scan 0 every so often, until `stop`. */
  start({ perSecond, toAllEveryMs }: { readonly perSecond: number; readonly toAllEveryMs: number }): void {
    const startMs = performance.now();
    let sent = 0;
    let sentToAll = 0;
    this.#timer = setInterval(() => {
      const elapsedMs = performance.now() - startMs;
      const events: ProgressEvent[] = [];
      for (; sent < (elapsedMs * perSecond) / 1000; sent += 1) events.push(this.#nextOfOthers());
      for (; sentToAll < Math.floor(elapsedMs / toAllEveryMs); sentToAll += 1) events.push(this.#next(0));
      if (events.length > 0) this.#backends.send(events);
    }, 20);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** One more of every scan, so that all have the same last number; `beforeNs` is after all of them. */
  publishLast(): { readonly shared: number; readonly own: number; readonly beforeNs: number } {
    const own = Math.max(...this.#counts.slice(1)) + 1;
    const events: ProgressEvent[] = [this.#next(0)];
    for (let scan = 1; scan <= this.#scans; scan += 1) {
      while ((this.#counts[scan] ?? 0) < own) events.push(this.#next(scan));
    }
    this.#backends.send(events);
    return { shared: this.sharedNumber, own, beforeNs: nowNs() };
  }

  #nextOfOthers(): ProgressEvent {
    this.#nextScan = (this.#nextScan % this.#scans) + 1;
    return this.#next(this.#nextScan);
  }

  #next(scan: number): ProgressEvent {
    const number = (this.#counts[scan] ?? 0) + 1;
    const t = nowNs();
    const before = this.#lastNs[scan] ?? 0;
    this.#counts[scan] = number;
    this.#lastNs[scan] = t;
    const progress = { scan_id: scanIdOf(scan), checks_done: 12, checks_total: 29, check: "" };
    return { scan, payload: JSON.stringify({ ...progress, c: scan, n: number, t, p: before }) };
  }
}
