import { pause } from "../../shared/abortable.ts";
import { AppError, isUnavailable } from "../../shared/app_error.ts";
import { FairShare } from "../../shared/fair_share.ts";
import { FairTurns } from "../../shared/fair_turns.ts";
import { RetryAfterSchedule } from "./retry_after_schedule.ts";

export interface LookupsOptions {
  /** The shortest time between the starts of identical lookups. Default 25. */
  readonly spacingMs?: number;
  /** Streams that are being opened, and concurrent lookups of all keys; more are refused. Default 2,000. */
  readonly maxRunning?: number;
  /** This many lookups are at the database at a time, the others wait for them. Default: no limit. */
  readonly atOnce?: number;
  /** How long lookups are refused after the database was found unavailable, before one is tried. Default 1,000. */
  readonly pauseMs?: number;
  readonly now?: () => number;
  /** From 0 inclusive to 1 exclusive. */
  readonly random?: () => number;
}

/** One failure may be a single connection's; this many in a row mean that the database is down. */
const failuresUntilPause = 3;

/** The newest query of a key. */
interface Entry {
  readonly startedMs: number;
  readonly done: Promise<void>;
  isSettled: boolean;
  /** The query after it, shared by every caller that arrived since it began. */
  next: Promise<unknown> | null;
}

/**
 * Coalesces identical lookups, so that a storm of reconnects does not reach the database: callers share one query, and always
 * one that begins after they arrived. So a scan that has just ended is never reported as running, as a cache might do.
 */
export class Lookups {
  readonly #spacingMs: number;
  readonly #maxRunning: number;
  readonly #pauseMs: number;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #returnTimes: RetryAfterSchedule;
  readonly #openings: FairShare;
  readonly #running: FairShare;
  /** At the database. */
  readonly #turns: FairTurns;
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(options: LookupsOptions = {}) {
    this.#spacingMs = options.spacingMs ?? 25;
    this.#maxRunning = options.maxRunning ?? 2000;
    this.#pauseMs = options.pauseMs ?? 1000;
    this.#now = options.now ?? Date.now;
    this.#random = options.random ?? Math.random;
    this.#returnTimes = new RetryAfterSchedule(this.#now);
    this.#openings = new FairShare({ max: this.#maxRunning, what: "streams being opened" });
    this.#running = new FairShare({ max: this.#maxRunning, what: "lookups" });
    this.#turns = new FairTurns(options.atOnce ?? Infinity);
  }

  /**
   * Opens a stream, from the arrival of its request; rejects with `AppError("unavailable")` at once while as many are being opened
   * as lookups may run, or too many for one holder (a tenant, or an address before it is authenticated). A longer queue helps no client of a storm: each would wait until
   * its client has given up.
   */
  async admit<Result>(holder: string, open: () => Promise<Result>): Promise<Result> {
    try {
      this.#openings.take(holder);
    } catch {
      throw tooMany(this.#returnTimes.next(this.#openings.total));
    }
    try {
      return await open();
    } finally {
      this.#openings.give(holder);
      this.#returnTimes.countOpened();
    }
  }

  /**
   * Rejects with what `work` rejects with, and with `AppError("unavailable")` while the database is known to be down. Holders
   * (tenants, and keys whose tenant is not known yet) take turns at the database.
   */
  share<Result>(holder: string, key: string, work: () => Promise<Result>): Promise<Result> {
    const run = () => this.#run(holder, work);
    const entry = this.#entries.get(key);
    if (entry === undefined || (entry.isSettled && entry.next === null && this.#waitMs(entry) <= 0)) {
      return this.#start(key, run);
    }
    // The key names the lookup, so everything under it has one type.
    entry.next ??= this.#startAfter(entry, key, run);
    return entry.next as Promise<Result>;
  }

  async #startAfter<Result>(entry: Entry, key: string, run: () => Promise<Result>): Promise<Result> {
    await entry.done;
    const waitMs = this.#waitMs(entry);
    if (waitMs > 0) await pause(waitMs, []);
    return this.#start(key, run);
  }

  #start<Result>(key: string, run: () => Promise<Result>): Promise<Result> {
    const startedMs = this.#now();
    const result = run();
    const remove = () => this.#expire(key, entry);
    const entry: Entry = { startedMs, done: result.then(remove, remove), isSettled: false, next: null };
    this.#entries.set(key, entry);
    return result;
  }

  #waitMs(entry: Entry): number {
    return entry.startedMs + this.#spacingMs - this.#now();
  }

  /** The entry stays for the spacing, unless a next query has replaced it. */
  #expire(key: string, entry: Entry): void {
    entry.isSettled = true;
    setTimeout(() => {
      if (entry.next === null && this.#entries.get(key) === entry) this.#entries.delete(key);
    }, this.#spacingMs);
  }

  async #run<Result>(holder: string, work: () => Promise<Result>): Promise<Result> {
    // Spread, so that clients that are refused together do not retry together.
    try {
      this.#running.take(holder);
    } catch {
      throw tooMany(2 + Math.floor(this.#random() * 9));
    }
    try {
      return await this.#turns.run(holder, () => this.#ask(work));
    } finally {
      this.#running.give(holder);
    }
  }

  async #ask<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#requireUp();
    try {
      const result = await work();
      this.#failures = 0;
      return result;
    } catch (error) {
      this.#count(error);
      throw error;
    }
  }

  /** After a pause one lookup is tried; the others are refused until it has succeeded. */
  #requireUp(): void {
    if (this.#failures < failuresUntilPause) return;
    const nowMs = this.#now();
    if (nowMs < this.#pausedUntilMs) {
      throw new AppError("unavailable", "The database cannot be reached", { retryAfterSeconds: 2 });
    }
    this.#pausedUntilMs = nowMs + this.#pauseMs;
  }

  #count(error: unknown): void {
    this.#failures = isUnavailable(error) ? this.#failures + 1 : 0;
    if (this.#failures >= failuresUntilPause) this.#pausedUntilMs = this.#now() + this.#pauseMs;
  }
}

function tooMany(retryAfterSeconds: number): AppError {
  return new AppError("unavailable", "Too many streams are being opened at once", { retryAfterSeconds });
}
