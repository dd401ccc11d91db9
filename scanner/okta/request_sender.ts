import type { Report } from "../../shared/report.ts";
import type { Clock } from "./clock.ts";
import type { ConnectionSettings } from "./connection_settings.ts";
import { createHttpTransport, type Fetch, type HttpRequest, type ReceivedResponse } from "./http_transport.ts";
import { NetworkError } from "./network_error.ts";
import { Endpoints, maxWindowMs, parseRetryAfterMs, parseWindow, type Endpoint } from "./rate_limit.ts";

/** A request that may be sent several times. */
export interface RetryableRequest extends Pick<HttpRequest, "method" | "path"> {
  /** Headers and form of one attempt, which are good for one use. Default: none. */
  readonly prepare?: () => Promise<Pick<HttpRequest, "headers" | "form">>;
}

/** Callbacks for requests and waits. It sees no header, no form and no answer, so it can show no secret. */
export interface RequestTrace {
  requestEnded(request: {
    readonly method: HttpRequest["method"];
    /** Part of its query only what selects and pages openly: a cursor or a search text stands as `…`. */
    readonly path: string;
    /** Null: no answer, and `problem` says why. */
    readonly status: number | null;
    readonly problem: string | null;
    readonly ms: number;
  }): void;
  /** A wait begins, as long as it takes as far as is known now. */
  waitBegun(wait: { readonly reason: "rate limit" | "retry"; readonly ms: number }): void;
}

type SenderSettings = Pick<ConnectionSettings, "orgUrl" | "timeoutMs" | "proxy" | "concurrency">;

export interface SenderOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly trace?: RequestTrace | undefined;
  readonly fetch?: Fetch | undefined;
}

/** Far above the largest page of the provider, far below what would hurt. */
const maxBodyBytes = 33_554_432;
/** How often a request is retried after a transient failure: a reset, a timeout, a 5xx. */
const maxRetries = 2;
const firstRetryMs = 500;
/** How many 429s one request waits out, and one endpoint in a row. */
const maxRefusals = 4;
const firstRefusalMs = 1000;
const maxBackoffMs = 30_000;
/** After this many requests of an endpoint in a row that failed for good, its next ones are tried once, until one succeeds. */
const maxFailuresInRow = 2;

type Result = ReceivedResponse | NetworkError;

/** Sends requests as fast as the provider's rate limits allow, and retries transient failures. */
export class RequestSender {
  /** The provider's latest DPoP nonces, of the token endpoint (POST) and of the API (GET): each login of an examination uses them. */
  readonly nonces: Record<"GET" | "POST", string | null> = { GET: null, POST: null };
  readonly #http: ReturnType<typeof createHttpTransport>;
  readonly clock: Clock;
  readonly #options: SenderOptions;
  readonly #closed = new AbortController();
  /** Aborts when the caller's signal does, and when this is closed. */
  readonly #stop: AbortSignal;
  readonly #endpoints = new Endpoints();
  /** Resolves when a request has ended. */
  #ended = Promise.withResolvers<void>();
  #concurrency: number;
  #inFlight = 0;
  #asleep = 0;
  #asleepSinceMs = 0;
  #throttledMs = 0;
  #hasResponse = false;
  #total = 0;
  #retried = 0;

  constructor(config: SenderSettings, options: SenderOptions) {
    this.#http = createHttpTransport({ ...config, maxBodyBytes, fetch: options.fetch });
    this.clock = options.clock;
    this.#options = options;
    this.#concurrency = config.concurrency;
    this.#stop = AbortSignal.any([options.signal, this.#closed.signal]);
    this.#stop.addEventListener("abort", () => this.#ended.resolve(), { once: true });
  }

  /**
   * The provider's response, regardless of its status. Throws `NetworkError` when none exists, `ForbiddenRequest`, the
   * signal's reason, and what preparing it throws.
   */
  async send(request: RetryableRequest): Promise<ReceivedResponse> {
    const endpoint = this.#endpoints.of(request.path);
    let failures = 0;
    let refusals = 0;
    for (;;) {
      const result = await this.#attempt(request, endpoint);
      if (!(result instanceof NetworkError) && result.status === 429) {
        if (++refusals > maxRefusals || this.#finalRefusal(endpoint) !== null) return result;
      } else if (!isTransient(result)) {
        Object.assign(endpoint, { refusals: 0, refusedUntilMs: 0, givenUp: null, failures: 0 });
        return responseOf(result);
      } else if (!(await this.#waitsForRetry(endpoint, ++failures, result))) {
        return responseOf(result);
      }
      this.#retried++;
    }
  }

  /** Everything sent, token requests and retries included, and the time in which at least one request waited for a rate limit. */
  counters(): Report["scan"]["requests"] {
    const asleepMs = this.#asleep === 0 ? 0 : this.#options.clock.nowMs() - this.#asleepSinceMs;
    return { total: this.#total, retried: this.#retried, throttled_ms: Math.round(this.#throttledMs + asleepMs) };
  }

  /** The latest window of each family whose answers name one. */
  rateLimits(): ReturnType<Endpoints["windows"]> {
    return this.#endpoints.windows();
  }

  close(): Promise<void> {
    this.#closed.abort();
    return this.#http.close();
  }

  /** One attempt when the limits allow it; the last 429 of an endpoint that was given up. */
  async #attempt(request: RetryableRequest, endpoint: Endpoint): Promise<Result> {
    // A request that is in flight may have to wait for a new token.
    const weight = request.method === "POST" ? 0 : 1;
    const refusal = await this.#turn(endpoint, weight);
    if (refusal !== null) return refusal;
    const { family } = endpoint;
    try {
      const response = await this.#sendOnce(request);
      const window = response.status === 429 ? this.#refused(endpoint, response) : parseWindow(response);
      family.learn(window, this.#options.clock.nowMs());
      return response;
    } catch (error) {
      family.learn(null, this.#options.clock.nowMs());
      if (error instanceof NetworkError) return error;
      throw error;
    } finally {
      family.inFlight--;
      this.#inFlight -= weight;
      this.#ended.resolve();
      this.#ended = Promise.withResolvers();
    }
  }

  /** Resolves when an attempt may begin, in the order of the family's calls, or with the refusal of an endpoint that was given up. */
  async #turn(endpoint: Endpoint, weight: number): Promise<ReceivedResponse | null> {
    const { family } = endpoint;
    this.#options.signal.throwIfAborted();
    const turn = family.turns.then(() => this.#wait(endpoint, weight));
    family.turns = turn.catch(() => undefined);
    return turn;
  }

  async #wait(endpoint: Endpoint, weight: number): Promise<ReceivedResponse | null> {
    const { family } = endpoint;
    for (;;) {
      const refusal = this.#finalRefusal(endpoint);
      if (refusal !== null) return refusal;
      const untilMs = family.blockedUntilMs(this.#options.clock.nowMs());
      if (untilMs === 0 && (weight === 0 || this.#inFlight < this.#concurrency)) {
        family.inFlight++;
        this.#inFlight += weight;
        return null;
      }
      await (untilMs > 0 && untilMs < Number.POSITIVE_INFINITY ? this.#sleep(untilMs) : this.#ended.promise);
      this.#stop.throwIfAborted();
    }
  }

  async #sendOnce({ method, path, prepare }: RetryableRequest): Promise<ReceivedResponse> {
    const { clock, signal, trace } = this.#options;
    const prepared = (await prepare?.()) ?? { headers: {} };
    const startedAtMs = clock.nowMs();
    const ended = (status: number | null, problem: string | null) =>
      trace?.requestEnded({ method, path: tracedPath(path), status, problem, ms: clock.nowMs() - startedAtMs });
    this.#total++;
    try {
      const response = await this.#http.send({ method, path, ...prepared }, signal);
      this.#hasResponse = true;
      ended(response.status, null);
      const providerMs = Date.parse(response.headers.get("date") ?? "");
      return { ...response, receivedAtMs: clock.nowMs(), providerMs: Number.isNaN(providerMs) ? null : providerMs };
    } catch (error) {
      ended(null, error instanceof NetworkError ? error.message : signal.aborted ? "interrupted" : "not sent");
      throw error;
    }
  }

  async #sleep(untilMs: number): Promise<void> {
    const { clock, trace } = this.#options;
    const nowMs = clock.nowMs();
    if (this.#asleep++ === 0) this.#asleepSinceMs = nowMs;
    trace?.waitBegun({ reason: "rate limit", ms: untilMs - nowMs });
    await clock.sleep(untilMs - nowMs, this.#stop).catch(() => undefined);
    if (--this.#asleep === 0) this.#throttledMs += clock.nowMs() - this.#asleepSinceMs;
  }

  /** The window of the family after a 429. An endpoint whose 429s do not end is given up. */
  #refused(endpoint: Endpoint, response: ReceivedResponse) {
    const nowMs = this.#options.clock.nowMs();
    const window = parseWindow(response);
    const retryAfterMs = parseRetryAfterMs(response);
    // Without a window that is used up the refusal was for too many requests in flight.
    const isUsedUp = window !== null && window.remaining === 0;
    // The 429s of requests that were in flight together are one.
    if (nowMs >= endpoint.refusedUntilMs) {
      endpoint.refusals++;
      if (!isUsedUp) this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2));
    }
    const backoffMs = this.#jittered(Math.min(maxBackoffMs, firstRefusalMs * 2 ** (endpoint.refusals - 1)));
    const resetAtMs = Math.max(isUsedUp ? window.resetAtMs : 0, nowMs + Math.max(backoffMs, retryAfterMs));
    const isEndless = endpoint.refusals > maxRefusals || retryAfterMs > maxWindowMs;
    endpoint.refusedUntilMs = resetAtMs;
    endpoint.givenUp = isEndless ? response : null;
    // A limit that refuses one endpoint without end need not refuse the others of its family.
    return isEndless ? window : { limit: window?.limit ?? 0, remaining: 0, resetAtMs };
  }

  #finalRefusal({ givenUp, refusedUntilMs }: Endpoint): ReceivedResponse | null {
    return this.#options.clock.nowMs() < refusedUntilMs ? givenUp : null;
  }

  /** Waits after a transient failure. Resolves with true when the next attempt may begin, with false when no attempt is left. */
  async #waitsForRetry(endpoint: Endpoint, failures: number, result: Result): Promise<boolean> {
    const { clock, signal, trace } = this.#options;
    const isResponse = !(result instanceof NetworkError);
    // A retry only delays, while nothing has ever responded, the error of a wrong address.
    const isFirstContact = !isResponse && result.kind !== "reset" && !this.#hasResponse;
    if (failures > maxRetries || isFirstContact || endpoint.failures >= maxFailuresInRow) {
      endpoint.failures++;
      return false;
    }
    const retryAfterMs = isResponse ? Math.min(parseRetryAfterMs(result), maxBackoffMs) : 0;
    const ms = Math.max(this.#jittered(firstRetryMs * 2 ** (failures - 1)), retryAfterMs);
    trace?.waitBegun({ reason: "retry", ms });
    await clock.sleep(ms, signal);
    return true;
  }

  #jittered(ms: number): number {
    return Math.round(ms * (0.5 + this.#options.clock.random() / 2));
  }
}

function isTransient(result: Result): boolean {
  return result instanceof NetworkError ? result.isTransient : result.status === 408 || result.status >= 500;
}

function responseOf(result: Result): ReceivedResponse {
  if (result instanceof NetworkError) throw result;
  return result;
}

/** Hides the values of a path's query, except those of the parameters that select, sort and bound a list. */
function tracedPath(path: string): string {
  return path.replaceAll(/([?&](?!(?:expand|limit|sortOrder|type)=)[^=&]+=)[^&]*/g, "$1…");
}
