import type { Clock } from "./clock.ts";
import { NetworkError } from "./network_error.ts";
import { RateLimiter, EndpointExhausted, type RequestOutcome } from "./rate_limiter.ts";
import {
  endpointOf,
  maxWindowMs,
  parseRateLimit,
  parseRetryAfterMs,
  ProviderTime,
  type RateLimitReading,
} from "./rate_limit.ts";
import { tokenPath, type HttpResponse, type HttpTransport, type HttpRequest } from "./http_transport.ts";

/** A request that may be sent several times: what is good for one use only is made anew by `prepare`. */
export interface RetryableRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Called right before each attempt. */
  prepare(): Promise<Pick<HttpRequest, "headers" | "form">>;
}

export interface ReceivedResponse extends HttpResponse {
  readonly receivedAtMs: number;
  /** What it told about its rate limit; null for nothing. */
  readonly rate: RateLimitReading | null;
}

export interface RateLimitStatus {
  /** `policies * rules`. */
  readonly endpoint: string;
  /** Requests in one window. */
  readonly limit: number;
  readonly remaining: number;
}

export interface RequestSenderOptions {
  readonly wire: HttpTransport;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly concurrency: number;
}

/** How often a request is repeated after a failure that may pass: a reset, a time-out, a 5xx. */
const maxRetries = 2;
const firstRetryMs = 500;
/** How many refusals for the rate limit one request waits out, and one endpoint in a row. */
const maxRefusals = 4;
const firstRefusalMs = 1000;
const maxBackOffMs = 30_000;
/** After so many requests of an endpoint in a row that failed for good, its next ones are tried once, until one succeeds. */
const maxFailuresInRow = 2;
const maxTokenRequestsAtOnce = 4;

/** Sends requests at the pace of the provider's rate limits, and repeats those whose failure may pass. */
export class RequestSender {
  readonly #wire: HttpTransport;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #reads: RateLimiter;
  /** The token endpoint has a pacer of its own: a read that holds a permit may have to wait for a new token. */
  readonly #logins: RateLimiter;
  /** Endpoints whose refusals did not end: not asked again before that time, and then once only. */
  readonly #saturated = new Map<string, { readonly answer: ReceivedResponse; readonly untilMs: number }>();
  /** Refusals of an endpoint since it last let something through; those of one wait are one. */
  readonly #refusals = new Map<string, { readonly count: number; readonly untilMs: number }>();
  /** The latest that each endpoint told about its rate limit. */
  readonly #limits = new Map<string, RateLimitStatus>();
  readonly #time = new ProviderTime();
  /** Requests of an endpoint that failed for good since it last answered. */
  readonly #failures = new Map<string, number>();
  #hasAnswered = false;
  #total = 0;
  #retried = 0;

  constructor(options: RequestSenderOptions) {
    const { wire, clock, signal, concurrency } = options;
    this.#wire = wire;
    this.#clock = clock;
    this.#signal = signal;
    this.#reads = new RateLimiter({ clock, signal, concurrency });
    this.#logins = new RateLimiter({ clock, signal, concurrency: maxTokenRequestsAtOnce });
  }

  /**
   * The provider's answer, whatever its status. Throws `NetworkError` when none came, `ForbiddenRequest`, the signal's
   * reason, and whatever `prepare` throws.
   */
  async send(request: RetryableRequest): Promise<ReceivedResponse> {
    let failures = 0;
    let refusals = 0;
    for (;;) {
      const outcome = await this.#attempt(request);
      if (isAnswer(outcome) && outcome.status === 429) {
        if (!this.#mayWait(request.path, outcome, ++refusals)) return outcome;
      } else if (mayPass(outcome)) {
        if (!this.#mayRetry(request.path, ++failures, outcome)) return givenUp(outcome);
        await this.#clock.sleep(this.#retryDelayMs(failures, outcome), this.#signal);
      } else {
        return this.#succeeded(request.path, outcome);
      }
      this.#retried++;
    }
  }

  counters(): { readonly total: number; readonly retried: number; readonly throttledMs: number } {
    const throttledMs = Math.round(this.#reads.throttledMs() + this.#logins.throttledMs());
    return { total: this.#total, retried: this.#retried, throttledMs };
  }

  rateLimits(): readonly RateLimitStatus[] {
    return [...this.#limits.values()];
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  async #attempt(request: RetryableRequest): Promise<ReceivedResponse | NetworkError> {
    const { endpoint } = endpointOf(request.path);
    const refused = this.#saturated.get(endpoint);
    if (refused !== undefined && this.#clock.nowMs() < refused.untilMs) return refused.answer;
    let permit;
    try {
      permit = await this.#pacerOf(request.path).enter(request.path);
    } catch (error) {
      const refusal = this.#saturated.get(endpoint);
      if (error instanceof EndpointExhausted && refusal !== undefined) return refusal.answer;
      throw error;
    }
    let told: RequestOutcome = "silence";
    try {
      const prepared = await request.prepare();
      this.#total++;
      const sentAtMs = this.#clock.nowMs();
      const answer = await this.#wire.send({ method: request.method, path: request.path, ...prepared }, this.#signal);
      const receivedAtMs = this.#clock.nowMs();
      const rate = parseRateLimit(answer.headers, this.#time.at(answer.headers, { sentAtMs, receivedAtMs }));
      told = rate ?? (answer.status === 429 ? "refused" : "no_limit");
      if (rate !== null) this.#limits.set(endpoint, { endpoint, limit: rate.limit, remaining: rate.remaining });
      this.#hasAnswered = true;
      return { ...answer, receivedAtMs, rate };
    } catch (error) {
      if (error instanceof NetworkError) return error;
      throw error;
    } finally {
      permit.leave(told);
    }
  }

  /** Decides whether a 429 is waited out; the wait itself happens where the next attempt asks for its permit. */
  #mayWait(path: string, answer: ReceivedResponse, refusals: number): boolean {
    const { endpoint } = endpointOf(path);
    const pacer = this.#pacerOf(path);
    const nowMs = this.#clock.nowMs();
    const facts = answer.rate;
    const retryAfterMs = parseRetryAfterMs(answer.headers, answer.receivedAtMs);
    const before = this.#refusals.get(endpoint) ?? { count: 0, untilMs: 0 };
    const inRow = nowMs >= before.untilMs ? before.count + 1 : before.count;
    const isEndless = refusals > maxRefusals || inRow > maxRefusals || this.#saturated.has(endpoint);
    if (isEndless || (retryAfterMs ?? 0) > maxWindowMs) {
      const untilMs = Math.max(facts?.resetAtMs ?? 0, nowMs + (retryAfterMs ?? maxBackOffMs));
      this.#saturated.set(endpoint, { answer, untilMs });
      pacer.rejectWaiting(path);
      return false;
    }
    // Without a window that is used up the refusal was for too many requests at once.
    if (inRow > before.count && (facts === null || facts.remaining > 0)) pacer.halveConcurrency();
    const isWindowOpen = facts !== null && facts.remaining === 0 && facts.resetAtMs > nowMs;
    const backOffMs = isWindowOpen ? 0 : this.#jittered(Math.min(maxBackOffMs, firstRefusalMs * 2 ** (inRow - 1)));
    const waitMs = Math.max(backOffMs, retryAfterMs ?? 0);
    pacer.holdBack(path, waitMs);
    this.#refusals.set(endpoint, { count: inRow, untilMs: isWindowOpen ? facts.resetAtMs : nowMs + waitMs });
    return true;
  }

  #mayRetry(path: string, failures: number, outcome: ReceivedResponse | NetworkError): boolean {
    const { endpoint } = endpointOf(path);
    const inRow = this.#failures.get(endpoint) ?? 0;
    // Where nothing has ever answered, waiting on tells a wrong address only later.
    const isFirstContact = outcome instanceof NetworkError && outcome.kind !== "reset" && !this.#hasAnswered;
    const isTried = failures > maxRetries || isFirstContact || inRow >= maxFailuresInRow;
    if (isTried) this.#failures.set(endpoint, inRow + 1);
    return !isTried;
  }

  #retryDelayMs(failures: number, outcome: ReceivedResponse | NetworkError): number {
    const askedMs = isAnswer(outcome) ? (parseRetryAfterMs(outcome.headers, outcome.receivedAtMs) ?? 0) : 0;
    return Math.max(this.#jittered(firstRetryMs * 2 ** (failures - 1)), Math.min(askedMs, maxBackOffMs));
  }

  #succeeded(path: string, outcome: ReceivedResponse | NetworkError): ReceivedResponse {
    if (!isAnswer(outcome)) throw outcome;
    const { endpoint } = endpointOf(path);
    this.#failures.delete(endpoint);
    this.#saturated.delete(endpoint);
    this.#refusals.delete(endpoint);
    return outcome;
  }

  #jittered(ms: number): number {
    return Math.round(ms * (0.5 + this.#clock.random() / 2));
  }

  #pacerOf(path: string): RateLimiter {
    return path === tokenPath ? this.#logins : this.#reads;
  }
}

function isAnswer(outcome: ReceivedResponse | NetworkError): outcome is ReceivedResponse {
  return !(outcome instanceof NetworkError);
}

function mayPass(outcome: ReceivedResponse | NetworkError): boolean {
  if (outcome instanceof NetworkError) return outcome.isTransient;
  return outcome.status === 408 || outcome.status >= 500;
}

function givenUp(outcome: ReceivedResponse | NetworkError): ReceivedResponse {
  if (isAnswer(outcome)) return outcome;
  throw outcome;
}
