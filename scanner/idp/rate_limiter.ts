import type { Clock } from "./clock.ts";
import { endpointOf, type RateLimitReading } from "./rate_limit.ts";
import { contradicts, signatureOf, type RateWindow } from "./rate_window.ts";
import { Stopwatch } from "./stopwatch.ts";

export interface RateLimiterOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How many requests may be under way at once. */
  readonly concurrency: number;
}

/** The right to send one request now. */
export interface Permit {
  /** Gives it back, with what came of the request. */
  leave(told: RequestOutcome): void;
}

/** What an answer told: its window; none; none, but it was a refusal; or there was no answer (or no request) at all. */
export type RequestOutcome = RateLimitReading | "no_limit" | "refused" | "silence";

/** What `enter` rejects with when its endpoint was given up while it waited. */
export class EndpointExhausted extends Error {
  constructor() {
    super("The endpoint refuses every request for its rate limit");
    this.name = "EndpointExhausted";
  }
}

/**
 * Lets requests go as fast as the provider's rate limits allow and no faster, so that none is refused.
 *
 * Which endpoints share a limit is not told, so it is inferred: answers that name the same limit and the same end of
 * the window are taken to count together, until one of them shows more left than an earlier answer of the other did.
 * Counted together wrongly costs a little time; counted apart wrongly costs a 429, on an org that others work with.
 * The first request of a family of endpoints, and of each new window, goes alone: its answer says how many may follow.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #lanes = new Map<string, Lane>();
  readonly #windows = new Map<string, RateWindow>();
  /** Families known to count apart from the others. */
  readonly #apart = new Set<string>();
  #concurrency: number;
  #active = 0;
  /** Requests under way about whose window nothing is known: they may count in any. */
  #unknown = 0;
  #sequence = 0;
  #alarm: { readonly atMs: number; readonly stop: AbortController } | null = null;
  readonly #throttled = new Stopwatch();

  constructor(options: RateLimiterOptions) {
    this.#clock = options.clock;
    this.#signal = options.signal;
    this.#concurrency = options.concurrency;
    options.signal.addEventListener("abort", () => this.#abort(), { once: true });
  }

  /** Resolves when the request may be sent; rejects with `EndpointExhausted` or the signal's reason. In order per endpoint. */
  enter(path: string): Promise<Permit> {
    this.#signal.throwIfAborted();
    const lane = this.#laneOf(path);
    return new Promise((resolve, reject) => {
      lane.waiting.push({ resolve, reject });
      this.#drain();
    });
  }

  /** Holds an endpoint back, after a 429 that did not say how long. */
  holdBack(path: string, ms: number): void {
    const lane = this.#laneOf(path);
    lane.heldUntilMs = Math.max(lane.heldUntilMs, this.#clock.nowMs() + ms);
  }

  /** Ends the waiting of every request for an endpoint that refuses them without end. */
  rejectWaiting(path: string): void {
    for (const waiter of this.#laneOf(path).waiting.splice(0)) waiter.reject(new EndpointExhausted());
    this.#drain();
  }

  /** After a refusal because too many requests were under way at once. */
  halveConcurrency(): void {
    this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2));
  }

  /** Time in which at least one request waited for a rate limit. */
  throttledMs(): number {
    return this.#throttled.totalMs(this.#clock.nowMs());
  }

  #drain(): void {
    const nowMs = this.#clock.nowMs();
    let wakeAtMs = Number.POSITIVE_INFINITY;
    let isThrottled = false;
    let isMoving = true;
    // One request of each lane a round, so that a long list of one kind does not hold up the others.
    while (isMoving) {
      isMoving = false;
      isThrottled = false;
      wakeAtMs = Number.POSITIVE_INFINITY;
      for (const lane of this.#lanes.values()) {
        const verdict = lane.waiting.length === 0 ? idle : this.#judge(lane, nowMs);
        isThrottled ||= verdict.isThrottled;
        wakeAtMs = Math.min(wakeAtMs, verdict.wakeAtMs);
        if (!verdict.isOpen || this.#active >= this.#concurrency) continue;
        this.#start(lane, nowMs);
        isMoving = true;
      }
    }
    if (isThrottled) this.#throttled.start(nowMs);
    else this.#throttled.stop(nowMs);
    this.#setAlarm(wakeAtMs, nowMs);
  }

  #judge(lane: Lane, nowMs: number): Verdict {
    if (lane.heldUntilMs > nowMs) return throttledUntil(lane.heldUntilMs);
    const window = this.#windowOf(lane, nowMs);
    if (window !== null) {
      const free = window.remaining - window.active - this.#unknown;
      if (free > 0) return open;
      // The answers under way may say that more is left; if not, the next window opens the lane.
      return window.remaining > 0 && window.active + this.#unknown > 0 ? idle : throttledUntil(window.resetAtMs);
    }
    // Where no answer comes, one after another would only wait longer.
    return lane.isUnlimited || lane.isSilent || !this.#isBeingAsked(lane.family) ? open : idle;
  }

  /** The window that the lane's next request counts in; until it has told its own, the fullest one of its family. */
  #windowOf(lane: Lane, nowMs: number): RateWindow | null {
    const own = liveWindow(lane, nowMs);
    if (own !== null || lane.isUnlimited) return own;
    let fullest: RateWindow | null = null;
    for (const other of this.#lanes.values()) {
      const window = other.family === lane.family ? liveWindow(other, nowMs) : null;
      if (window === null || (lane.limit !== null && lane.limit !== window.limit)) continue;
      if (fullest === null || window.remaining < fullest.remaining) fullest = window;
    }
    return fullest;
  }

  /** A request is under way whose answer will tell the window of this family. */
  #isBeingAsked(family: string): boolean {
    for (const lane of this.#lanes.values()) if (lane.family === family && lane.asking > 0) return true;
    return false;
  }

  #start(lane: Lane, nowMs: number): void {
    const waiter = lane.waiting.shift();
    if (waiter === undefined) return;
    const window = this.#windowOf(lane, nowMs);
    const isUnknown = window === null && !lane.isUnlimited;
    const startedAt = ++this.#sequence;
    this.#active++;
    if (window !== null) window.active++;
    if (isUnknown) {
      this.#unknown++;
      lane.asking++;
    }
    let isOver = false;
    const leave = (told: RequestOutcome) => {
      if (isOver) return;
      isOver = true;
      this.#active--;
      if (window !== null) window.active--;
      if (isUnknown) {
        this.#unknown--;
        lane.asking--;
      }
      this.#learn(lane, told, startedAt);
      this.#drain();
    };
    waiter.resolve({ leave });
  }

  #learn(lane: Lane, told: RequestOutcome, startedAt: number): void {
    lane.isSilent = told === "silence";
    if (told === "silence" || told === "refused") return;
    lane.isUnlimited = told === "no_limit";
    if (told === "no_limit") return;
    this.#learnWindow(lane, told, startedAt);
  }

  #learnWindow(lane: Lane, facts: RateLimitReading, startedAt: number): void {
    const nowMs = this.#clock.nowMs();
    const known = liveWindow(lane, nowMs);
    // An answer that was overtaken by one of the next window says nothing any more.
    if (known !== null && known.resetSeconds > facts.resetSeconds) return;
    const shared = this.#windows.get(signatureOf(facts, null));
    if (shared !== undefined && contradicts(shared, { family: lane.family, facts, startedAt }))
      this.#apart.add(lane.family);
    lane.limit = facts.limit;
    const signature = signatureOf(facts, this.#apart.has(lane.family) ? lane.family : null);
    const seen = { remaining: facts.remaining, seenAt: ++this.#sequence, seenBy: lane.family };
    const window = this.#windows.get(signature);
    if (window === undefined || window.resetAtMs <= nowMs) {
      this.#forgetOldWindows(nowMs);
      const resetAtMs = facts.resetAtMs + this.#resetMarginMs();
      const { resetSeconds, limit } = facts;
      lane.window = { ...seen, active: 0, resetAtMs, resetSeconds, limit };
      this.#windows.set(signature, lane.window);
      return;
    }
    lane.window = window;
    // Each answer's estimate is late rather than early, so the earliest is the best.
    window.resetAtMs = Math.min(window.resetAtMs, facts.resetAtMs + this.#resetMarginMs());
    if (facts.remaining < window.remaining) Object.assign(window, seen);
  }

  #laneOf(path: string): Lane {
    const { endpoint, family } = endpointOf(path);
    const known = this.#lanes.get(endpoint);
    if (known !== undefined) return known;
    const lane: Lane = {
      family,
      waiting: [],
      asking: 0,
      window: null,
      limit: null,
      isUnlimited: false,
      isSilent: false,
      heldUntilMs: 0,
    };
    this.#lanes.set(endpoint, lane);
    return lane;
  }

  /** Scanners that start together do not come back together. */
  #resetMarginMs(): number {
    return 50 + Math.round(this.#clock.random() * 150);
  }

  #forgetOldWindows(nowMs: number): void {
    for (const [signature, window] of this.#windows) {
      if (window.resetAtMs <= nowMs && window.active === 0) this.#windows.delete(signature);
    }
  }

  #setAlarm(atMs: number, nowMs: number): void {
    if (this.#alarm?.atMs === atMs) return;
    this.#alarm?.stop.abort();
    this.#alarm = null;
    if (!Number.isFinite(atMs) || this.#signal.aborted) return;
    const alarm = { atMs, stop: new AbortController() };
    this.#alarm = alarm;
    const ring = () => {
      if (this.#alarm !== alarm) return;
      this.#alarm = null;
      this.#drain();
    };
    // A replaced alarm rejects; there is nothing to do then.
    void this.#clock.sleep(Math.max(0, atMs - nowMs), alarm.stop.signal).then(ring, () => undefined);
  }

  #abort(): void {
    this.#alarm?.stop.abort();
    this.#alarm = null;
    for (const lane of this.#lanes.values()) {
      for (const waiter of lane.waiting.splice(0)) waiter.reject(this.#signal.reason);
    }
  }
}

/** The requests of one endpoint. */
interface Lane {
  readonly family: string;
  readonly waiting: Waiter[];
  /** Requests under way about whose window nothing is known. */
  asking: number;
  window: RateWindow | null;
  /** Of its latest window; null until it has told one. */
  limit: number | null;
  /** The last answer named no window. */
  isUnlimited: boolean;
  /** The last request had no answer. */
  isSilent: boolean;
  heldUntilMs: number;
}

interface Waiter {
  resolve(permit: Permit): void;
  reject(reason: unknown): void;
}

interface Verdict {
  readonly isOpen: boolean;
  readonly isThrottled: boolean;
  readonly wakeAtMs: number;
}

const open: Verdict = { isOpen: true, isThrottled: false, wakeAtMs: Number.POSITIVE_INFINITY };
const idle: Verdict = { isOpen: false, isThrottled: false, wakeAtMs: Number.POSITIVE_INFINITY };

function throttledUntil(wakeAtMs: number): Verdict {
  return { isOpen: false, isThrottled: true, wakeAtMs };
}

function liveWindow(lane: Lane, nowMs: number): RateWindow | null {
  return lane.window !== null && lane.window.resetAtMs > nowMs ? lane.window : null;
}
