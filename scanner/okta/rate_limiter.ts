import type { Clock } from "./clock.ts";
import { endpointOf, type RateLimitReading } from "./rate_limit.ts";
import { RateWindows, type RateWindow } from "./rate_windows.ts";

export interface RateLimiterOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How many requests may be in flight. */
  readonly concurrency: number;
  /** Called when a request begins to wait for a rate limit, with how long it is as far as is known. */
  readonly onThrottled: (ms: number) => void;
}

/** The right to send one request now. */
export interface Permit {
  /** Gives it back; only the first call counts. */
  release(outcome: RequestOutcome): void;
}

/** Outcome of a request: its window; a response that names none; a 429 that names none; or no response at all. */
export type RequestOutcome = RateLimitReading | "unlimited" | "refused" | "no_response";

/** Rejection of `acquire` when the sender has given its endpoint up. */
export class EndpointExhausted extends Error {
  constructor() {
    super("The endpoint refuses every request for its rate limit");
    this.name = "EndpointExhausted";
  }
}

/**
 * Grants permits as fast as the provider's rate limits allow and no faster, so that no request is refused. An endpoint is a
 * path without identifiers. `#decide` looks at its states in this order: paused after a 429; limited by its own open window
 * or else by the emptiest of its family; unlimited, because the last response named no window; unresponsive; unknown, which
 * grants one probe for the family. Every window keeps a reserve for its requests in flight and for all probes.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onThrottled: (ms: number) => void;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #windows = new RateWindows();
  #concurrency: number;
  #inFlight = 0;
  /** Requests in flight whose window is unknown: each may count in any window, so all windows reserve for them. */
  #probes = 0;
  #timer: { readonly atMs: number; readonly cancel: AbortController } | null = null;
  #throttledSinceMs: number | null = null;
  #throttledMs = 0;

  constructor(options: RateLimiterOptions) {
    this.#clock = options.clock;
    this.#signal = options.signal;
    this.#onThrottled = options.onThrottled;
    this.#concurrency = options.concurrency;
    options.signal.addEventListener("abort", () => this.#abort(), { once: true });
  }

  /** Resolves when the request may be sent, in order per endpoint. Rejects with `EndpointExhausted` or the signal's reason. */
  acquire(path: string): Promise<Permit> {
    this.#signal.throwIfAborted();
    const endpoint = this.#endpointOf(path);
    return new Promise((resolve, reject) => {
      endpoint.queue.push({ resolve, reject });
      this.#grant();
    });
  }

  /** After a 429 that did not say how long. */
  pause(path: string, ms: number): void {
    const endpoint = this.#endpointOf(path);
    endpoint.pausedUntilMs = Math.max(endpoint.pausedUntilMs, this.#clock.nowMs() + ms);
  }

  rejectWaiting(path: string): void {
    for (const waiter of this.#endpointOf(path).queue.splice(0)) waiter.reject(new EndpointExhausted());
    this.#grant();
  }

  /** After a 429 because too many requests were in flight. */
  halveConcurrency(): void {
    this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2));
  }

  /** Time in which at least one request waited for a rate limit. */
  throttledMs(nowMs = this.#clock.nowMs()): number {
    return this.#throttledMs + (this.#throttledSinceMs === null ? 0 : nowMs - this.#throttledSinceMs);
  }

  #grant(): void {
    const nowMs = this.#clock.nowMs();
    let blocked: readonly Decision[];
    let hasGranted: boolean;
    do {
      hasGranted = false;
      const decisions: Decision[] = [];
      // One request of each endpoint a round, so that a long queue does not hold up the others.
      for (const endpoint of this.#endpoints.values()) {
        if (endpoint.queue.length === 0) continue;
        const decision = this.#decide(endpoint, nowMs);
        if (decision !== "grant") decisions.push(decision);
        else if (this.#inFlight < this.#concurrency) {
          this.#start(endpoint, nowMs);
          hasGranted = true;
        }
      }
      blocked = decisions;
    } while (hasGranted);
    const wakeTimes = blocked.filter((decision) => typeof decision === "number");
    const isBeginning = this.#throttledSinceMs === null;
    this.#noteThrottled(wakeTimes.length > 0, nowMs);
    if (isBeginning && wakeTimes.length > 0) this.#onThrottled(Math.max(0, Math.min(...wakeTimes) - nowMs));
    this.#setTimer(Math.min(...wakeTimes), nowMs);
  }

  #decide(endpoint: Endpoint, nowMs: number): Decision {
    if (endpoint.pausedUntilMs > nowMs) return endpoint.pausedUntilMs;
    const window = this.#windowOf(endpoint, nowMs);
    if (window === null) {
      // Probing one after another would only wait longer while no response comes.
      const mayProbe = endpoint.isUnlimited || endpoint.isUnresponsive || !this.#isProbing(endpoint.family);
      return mayProbe ? "grant" : "wait";
    }
    const reserved = window.inFlight + this.#probes;
    if (window.remaining > reserved) return "grant";
    // The responses in flight may show that more is left; if not, the next window brings more.
    return window.remaining > 0 && reserved > 0 ? "wait" : window.resetAtMs;
  }

  /** The window that the next request counts in: the endpoint's own, until it is known the emptiest of its family. */
  #windowOf(endpoint: Endpoint, nowMs: number): RateWindow | null {
    const own = openWindow(endpoint, nowMs);
    if (own !== null || endpoint.isUnlimited) return own;
    let emptiest: RateWindow | null = null;
    for (const other of this.#endpoints.values()) {
      const window = other.family === endpoint.family ? openWindow(other, nowMs) : null;
      if (window === null || (endpoint.limit !== null && endpoint.limit !== window.limit)) continue;
      if (emptiest === null || window.remaining < emptiest.remaining) emptiest = window;
    }
    return emptiest;
  }

  #isProbing(family: string): boolean {
    return [...this.#endpoints.values()].some((endpoint) => endpoint.family === family && endpoint.probes > 0);
  }

  #start(endpoint: Endpoint, nowMs: number): void {
    const waiter = endpoint.queue.shift();
    if (waiter === undefined) return;
    const window = this.#windowOf(endpoint, nowMs);
    const isProbe = window === null && !endpoint.isUnlimited;
    const startedAt = this.#windows.tick();
    const count = (change: 1 | -1) => {
      this.#inFlight += change;
      if (window !== null) window.inFlight += change;
      if (isProbe) {
        this.#probes += change;
        endpoint.probes += change;
      }
    };
    count(1);
    let isReleased = false;
    const release = (outcome: RequestOutcome) => {
      if (isReleased) return;
      isReleased = true;
      count(-1);
      this.#learn(endpoint, outcome, startedAt);
      this.#grant();
    };
    waiter.resolve({ release });
  }

  #learn(endpoint: Endpoint, outcome: RequestOutcome, startedAt: number): void {
    endpoint.isUnresponsive = outcome === "no_response";
    if (outcome === "no_response" || outcome === "refused") return;
    endpoint.isUnlimited = outcome === "unlimited";
    if (outcome === "unlimited") return;
    const nowMs = this.#clock.nowMs();
    const known = openWindow(endpoint, nowMs);
    // Overtaken by a response of the next window.
    if (known !== null && known.resetSeconds > outcome.resetSeconds) return;
    // Scanners that start together do not return together.
    const marginMs = 50 + Math.round(this.#clock.random() * 150);
    endpoint.limit = outcome.limit;
    const observation = { family: endpoint.family, reading: outcome, startedAt };
    endpoint.window = this.#windows.observe(observation, nowMs, marginMs);
  }

  #endpointOf(path: string): Endpoint {
    const { endpoint: name, family } = endpointOf(path);
    const known = this.#endpoints.get(name);
    if (known !== undefined) return known;
    const endpoint: Endpoint = {
      family,
      queue: [],
      probes: 0,
      window: null,
      limit: null,
      isUnlimited: false,
      isUnresponsive: false,
      pausedUntilMs: 0,
    };
    this.#endpoints.set(name, endpoint);
    return endpoint;
  }

  #noteThrottled(isThrottled: boolean, nowMs: number): void {
    this.#throttledMs = this.throttledMs(nowMs);
    this.#throttledSinceMs = isThrottled ? nowMs : null;
  }

  #setTimer(atMs: number, nowMs: number): void {
    if (this.#timer?.atMs === atMs) return;
    this.#timer?.cancel.abort();
    this.#timer = null;
    if (!Number.isFinite(atMs) || this.#signal.aborted) return;
    const timer = { atMs, cancel: new AbortController() };
    this.#timer = timer;
    const onTime = () => {
      if (this.#timer !== timer) return;
      this.#timer = null;
      this.#grant();
    };
    // A cancelled timer rejects, and needs nothing done.
    void this.#clock.sleep(Math.max(0, atMs - nowMs), timer.cancel.signal).then(onTime, () => undefined);
  }

  #abort(): void {
    this.#timer?.cancel.abort();
    this.#timer = null;
    for (const { queue } of this.#endpoints.values()) {
      for (const waiter of queue.splice(0)) waiter.reject(this.#signal.reason);
    }
  }
}

/** `wait`: until a response arrives. A number: until that time, in milliseconds. */
type Decision = "grant" | "wait" | number;

interface Endpoint {
  readonly family: string;
  readonly queue: Waiter[];
  /** Requests in flight whose window is unknown. */
  probes: number;
  window: RateWindow | null;
  /** For its latest window; null until a response named one. */
  limit: number | null;
  /** The last response named no window. */
  isUnlimited: boolean;
  /** The last request had no response. */
  isUnresponsive: boolean;
  pausedUntilMs: number;
}

interface Waiter {
  resolve(permit: Permit): void;
  reject(reason: unknown): void;
}

function openWindow({ window }: Endpoint, nowMs: number): RateWindow | null {
  return window !== null && window.resetAtMs > nowMs ? window : null;
}
