import type { Clock } from "./clock.ts";
import { tokenPath, type HttpRequest, type HttpResponse, type HttpTransport } from "./http_transport.ts";
import { NetworkError } from "./network_error.ts";
import {
  endpointOf,
  maxWindowMs,
  parseRateLimit,
  parseRetryAfterMs,
  ProviderTime,
  type RateLimitReading,
} from "./rate_limit.ts";
import { EndpointExhausted, RateLimiter, type RequestOutcome } from "./rate_limiter.ts";
import { traceRequests, type RequestTrace } from "./request_trace.ts";

/** A request that may be sent several times. */
export interface RetryableRequest {
  readonly method: HttpRequest["method"];
  readonly path: string;
  /** One attempt: calls `send` once, with headers and a form that are good for one use. */
  attempt(send: SendOnce): Promise<ReceivedResponse>;
}

export type SendOnce = (request: Pick<HttpRequest, "headers" | "form">) => Promise<ReceivedResponse>;

export interface ReceivedResponse extends HttpResponse {
  readonly receivedAtMs: number;
  /** Its rate limit window; null when it names none. */
  readonly rateLimit: RateLimitReading | null;
}

export interface RateLimitStatus {
  /** `policies * rules`. */
  readonly endpoint: string;
  /** Requests in one window. */
  readonly limit: number;
  readonly remaining: number;
}

export interface RequestSenderOptions {
  readonly http: HttpTransport;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly concurrency: number;
  readonly trace?: RequestTrace | undefined;
}

/** How often a request is retried after a transient failure: a reset, a timeout, a 5xx. */
const maxRetries = 2;
const firstRetryMs = 500;
/** How many 429s one request waits out, and one endpoint in a row. */
const maxRefusals = 4;
const firstRefusalMs = 1000;
const maxBackoffMs = 30_000;
/** After this many requests of an endpoint in a row that failed for good, its next ones are tried once, until one succeeds. */
const maxFailuresInRow = 2;
const maxTokenRequestsInFlight = 4;

/** Sends requests at the pace of the provider's rate limits, and retries transient failures. */
export class RequestSender {
  readonly #http: HttpTransport;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #trace: RequestTrace | undefined;
  readonly #apiLimiter: RateLimiter;
  /** The token endpoint has its own: an API request that holds a permit may have to wait for a new token. */
  readonly #tokenLimiter: RateLimiter;
  readonly #endpoints = new Map<string, EndpointState>();
  readonly #providerTime = new ProviderTime();
  #hasResponse = false;
  #total = 0;
  #retried = 0;

  constructor({ http, clock, signal, concurrency, trace }: RequestSenderOptions) {
    this.#http = trace === undefined ? http : traceRequests(http, trace, clock);
    this.#clock = clock;
    this.#signal = signal;
    this.#trace = trace;
    const onThrottled = (ms: number) => trace?.waitBegun({ reason: "rate limit", ms });
    this.#apiLimiter = new RateLimiter({ clock, signal, concurrency, onThrottled });
    this.#tokenLimiter = new RateLimiter({ clock, signal, concurrency: maxTokenRequestsInFlight, onThrottled });
  }

  /**
   * The provider's response, regardless of its status. Throws `NetworkError` when none exists, `ForbiddenRequest`, the
   * signal's reason, and what the attempt throws.
   */
  async send(request: RetryableRequest): Promise<ReceivedResponse> {
    const endpoint = this.#endpointOf(request.path);
    let failures = 0;
    let refusals = 0;
    for (;;) {
      const result = await this.#attempt(request, endpoint);
      if (isResponse(result) && result.status === 429) {
        if (!this.#mayWait(request.path, result, ++refusals)) return result;
      } else if (isTransient(result)) {
        if (!this.#mayRetry(endpoint, ++failures, result)) return responseOf(result);
        const delayMs = this.#retryDelayMs(failures, result);
        this.#trace?.waitBegun({ reason: "retry", ms: delayMs });
        await this.#clock.sleep(delayMs, this.#signal);
      } else {
        const response = responseOf(result);
        Object.assign(endpoint, { refusals: 0, refusedUntilMs: 0, exhausted: null, failures: 0 });
        return response;
      }
      this.#retried++;
    }
  }

  counters(): { readonly total: number; readonly retried: number; readonly throttledMs: number } {
    const throttledMs = Math.round(this.#apiLimiter.throttledMs() + this.#tokenLimiter.throttledMs());
    return { total: this.#total, retried: this.#retried, throttledMs };
  }

  rateLimits(): readonly RateLimitStatus[] {
    return [...this.#endpoints].flatMap(([endpoint, { rateLimit }]) =>
      rateLimit === null ? [] : [{ endpoint, limit: rateLimit.limit, remaining: rateLimit.remaining }],
    );
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  async #attempt(request: RetryableRequest, endpoint: EndpointState): Promise<ReceivedResponse | NetworkError> {
    const { exhausted } = endpoint;
    if (exhausted !== null && this.#clock.nowMs() < exhausted.untilMs) return exhausted.response;
    let permit;
    try {
      permit = await this.#limiterOf(request.path).acquire(request.path);
    } catch (error) {
      if (error instanceof EndpointExhausted && endpoint.exhausted !== null) return endpoint.exhausted.response;
      throw error;
    }
    let outcome: RequestOutcome = "no_response";
    try {
      const response = await request.attempt(async (prepared) => {
        const received = await this.#sendOnce({ method: request.method, path: request.path, ...prepared });
        outcome = received.rateLimit ?? (received.status === 429 ? "refused" : "unlimited");
        return received;
      });
      endpoint.rateLimit = response.rateLimit ?? endpoint.rateLimit;
      return response;
    } catch (error) {
      if (error instanceof NetworkError) return error;
      throw error;
    } finally {
      permit.release(outcome);
    }
  }

  async #sendOnce(request: HttpRequest): Promise<ReceivedResponse> {
    this.#total++;
    const sentAtMs = this.#clock.nowMs();
    const response = await this.#http.send(request, this.#signal);
    const receivedAtMs = this.#clock.nowMs();
    const times = this.#providerTime.at(response.headers, { sentAtMs, receivedAtMs });
    this.#hasResponse = true;
    return { ...response, receivedAtMs, rateLimit: parseRateLimit(response.headers, times) };
  }

  /** Decides whether a 429 is waited out; the wait itself happens where the next attempt acquires its permit. */
  #mayWait(path: string, response: ReceivedResponse, refusals: number): boolean {
    const endpoint = this.#endpointOf(path);
    const limiter = this.#limiterOf(path);
    const nowMs = this.#clock.nowMs();
    const { rateLimit } = response;
    const retryAfterMs = parseRetryAfterMs(response.headers, response.receivedAtMs);
    // The 429s of requests that were in flight together are one.
    const isNew = nowMs >= endpoint.refusedUntilMs;
    const inRow = endpoint.refusals + (isNew ? 1 : 0);
    const isExhausted = refusals > maxRefusals || inRow > maxRefusals || endpoint.exhausted !== null;
    if (isExhausted || (retryAfterMs ?? 0) > maxWindowMs) {
      const untilMs = Math.max(rateLimit?.resetAtMs ?? 0, nowMs + (retryAfterMs ?? maxBackoffMs));
      endpoint.exhausted = { response, untilMs };
      limiter.rejectWaiting(path);
      return false;
    }
    // Without a window that is used up the refusal was for too many requests in flight.
    if (isNew && (rateLimit === null || rateLimit.remaining > 0)) limiter.halveConcurrency();
    const isWindowUsedUp = rateLimit !== null && rateLimit.remaining === 0 && rateLimit.resetAtMs > nowMs;
    const backoffMs = isWindowUsedUp ? 0 : this.#jittered(Math.min(maxBackoffMs, firstRefusalMs * 2 ** (inRow - 1)));
    const waitMs = Math.max(backoffMs, retryAfterMs ?? 0);
    limiter.pause(path, waitMs);
    endpoint.refusals = inRow;
    endpoint.refusedUntilMs = isWindowUsedUp ? rateLimit.resetAtMs : nowMs + waitMs;
    return true;
  }

  #mayRetry(endpoint: EndpointState, failures: number, result: ReceivedResponse | NetworkError): boolean {
    // A retry only delays, while nothing has ever responded, the error of a wrong address.
    const isFirstContact = result instanceof NetworkError && result.kind !== "reset" && !this.#hasResponse;
    const isFinal = failures > maxRetries || isFirstContact || endpoint.failures >= maxFailuresInRow;
    if (isFinal) endpoint.failures++;
    return !isFinal;
  }

  #retryDelayMs(failures: number, result: ReceivedResponse | NetworkError): number {
    const retryAfterMs = isResponse(result) ? (parseRetryAfterMs(result.headers, result.receivedAtMs) ?? 0) : 0;
    return Math.max(this.#jittered(firstRetryMs * 2 ** (failures - 1)), Math.min(retryAfterMs, maxBackoffMs));
  }

  #jittered(ms: number): number {
    return Math.round(ms * (0.5 + this.#clock.random() / 2));
  }

  #limiterOf(path: string): RateLimiter {
    return path === tokenPath ? this.#tokenLimiter : this.#apiLimiter;
  }

  #endpointOf(path: string): EndpointState {
    const { endpoint: name } = endpointOf(path);
    const known = this.#endpoints.get(name);
    if (known !== undefined) return known;
    const state: EndpointState = {
      refusals: 0,
      refusedUntilMs: 0,
      exhausted: null,
      failures: 0,
      rateLimit: null,
    };
    this.#endpoints.set(name, state);
    return state;
  }
}

interface EndpointState {
  /** 429s in a row; the ones that arrive before `refusedUntilMs` count as one. */
  refusals: number;
  refusedUntilMs: number;
  /** Its 429s did not end: the last of them, given back without a request until that time; then one request is sent. */
  exhausted: { readonly response: ReceivedResponse; readonly untilMs: number } | null;
  /** Requests that failed for good since one succeeded. */
  failures: number;
  /** The latest reading. */
  rateLimit: RateLimitReading | null;
}

function isResponse(result: ReceivedResponse | NetworkError): result is ReceivedResponse {
  return !(result instanceof NetworkError);
}

function isTransient(result: ReceivedResponse | NetworkError): boolean {
  if (result instanceof NetworkError) return result.isTransient;
  return result.status === 408 || result.status >= 500;
}

function responseOf(result: ReceivedResponse | NetworkError): ReceivedResponse {
  if (isResponse(result)) return result;
  throw result;
}
