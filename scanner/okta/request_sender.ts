import type { Clock } from "./clock.ts";
import { tokenPath, type HttpRequest, type HttpResponse, type HttpTransport } from "./http_transport.ts";
import { NetworkError } from "./network_error.ts";
import { endpointOf, maxWindowMs, parseRetryAfterMs, parseWindow, type RateWindow } from "./rate_limit.ts";
import { RateLimiter, type FamilyWindow } from "./rate_limiter.ts";
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
  readonly window: RateWindow | null;
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

/** Sends requests at the pace of the provider's rate limits, and retries transient failures. */
export class RequestSender {
  readonly #http: HttpTransport;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #trace: RequestTrace | undefined;
  readonly #limiter: RateLimiter<ReceivedResponse>;
  readonly #closed = new AbortController();
  readonly #endpoints = new Map<string, EndpointState>();
  #hasResponse = false;
  #total = 0;
  #retried = 0;

  constructor({ http, clock, signal, concurrency, trace }: RequestSenderOptions) {
    this.#http = trace === undefined ? http : traceRequests(http, trace, clock);
    this.#clock = clock;
    this.#signal = signal;
    this.#trace = trace;
    this.#limiter = new RateLimiter({
      clock,
      signal: AbortSignal.any([signal, this.#closed.signal]),
      concurrency,
      onThrottled: (ms) => trace?.waitBegun({ reason: "rate limit", ms }),
    });
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
        if (++refusals > maxRefusals || this.#finalRefusal(endpoint) !== null) return result;
      } else if (isTransient(result)) {
        if (!this.#mayRetry(endpoint, ++failures, result)) return responseOf(result);
        const delayMs = this.#retryDelayMs(failures, result);
        this.#trace?.waitBegun({ reason: "retry", ms: delayMs });
        await this.#clock.sleep(delayMs, this.#signal);
      } else {
        Object.assign(endpoint, { refusals: 0, refusedUntilMs: 0, givenUp: null, failures: 0 });
        return responseOf(result);
      }
      this.#retried++;
    }
  }

  counters(): { readonly total: number; readonly retried: number; readonly throttledMs: number } {
    return { total: this.#total, retried: this.#retried, throttledMs: Math.round(this.#limiter.throttledMs()) };
  }

  rateLimits(): readonly FamilyWindow[] {
    return this.#limiter.windows();
  }

  close(): Promise<void> {
    this.#closed.abort();
    return this.#http.close();
  }

  async #attempt(request: RetryableRequest, endpoint: EndpointState): Promise<ReceivedResponse | NetworkError> {
    const release = await this.#limiter.acquire({
      family: endpointOf(request.path).family,
      // A request that is in flight may have to wait for a new token.
      isUrgent: request.path === tokenPath,
      knownAnswer: () => this.#finalRefusal(endpoint),
    });
    if (typeof release !== "function") return release;
    let window: RateWindow | null = null;
    try {
      return await request.attempt(async (prepared) => {
        const received = await this.#sendOnce({ method: request.method, path: request.path, ...prepared });
        window = received.status === 429 ? this.#refusal(endpoint, received) : received.window;
        return received;
      });
    } catch (error) {
      if (error instanceof NetworkError) return error;
      throw error;
    } finally {
      release(window);
    }
  }

  async #sendOnce(request: HttpRequest): Promise<ReceivedResponse> {
    this.#total++;
    const response = await this.#http.send(request, this.#signal);
    const receivedAtMs = this.#clock.nowMs();
    this.#hasResponse = true;
    return { ...response, receivedAtMs, window: parseWindow(response.headers, receivedAtMs) };
  }

  /** The window of the family after a 429. An endpoint whose 429s do not end is given up. */
  #refusal(endpoint: EndpointState, response: ReceivedResponse): RateWindow | null {
    const nowMs = this.#clock.nowMs();
    const { window } = response;
    const retryAfterMs = parseRetryAfterMs(response.headers, response.receivedAtMs) ?? 0;
    // Without a window that is used up the refusal was for too many requests in flight.
    const isUsedUp = window !== null && window.remaining === 0;
    // The 429s of requests that were in flight together are one.
    if (nowMs >= endpoint.refusedUntilMs) {
      endpoint.refusals++;
      if (!isUsedUp) this.#limiter.halveConcurrency();
    }
    const backoffMs = this.#jittered(Math.min(maxBackoffMs, firstRefusalMs * 2 ** (endpoint.refusals - 1)));
    const resetAtMs = Math.max(isUsedUp ? window.resetAtMs : 0, nowMs + Math.max(backoffMs, retryAfterMs));
    endpoint.refusedUntilMs = resetAtMs;
    const isEndless = endpoint.refusals > maxRefusals || retryAfterMs > maxWindowMs;
    endpoint.givenUp = isEndless ? { response, untilMs: resetAtMs } : null;
    // A limit that refuses one endpoint without end need not refuse the others of its family.
    if (isEndless) return window;
    return { limit: window?.limit ?? 0, remaining: 0, resetAtMs };
  }

  #finalRefusal({ givenUp }: EndpointState): ReceivedResponse | null {
    return givenUp !== null && this.#clock.nowMs() < givenUp.untilMs ? givenUp.response : null;
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

  #endpointOf(path: string): EndpointState {
    const { endpoint: name } = endpointOf(path);
    const known = this.#endpoints.get(name);
    if (known !== undefined) return known;
    const state: EndpointState = { refusals: 0, refusedUntilMs: 0, givenUp: null, failures: 0 };
    this.#endpoints.set(name, state);
    return state;
  }
}

interface EndpointState {
  /** 429s in a row; the ones that arrive before `refusedUntilMs` count as one. */
  refusals: number;
  refusedUntilMs: number;
  /** Its 429s did not end: the last of them, given back without a request until that time; then one request is sent. */
  givenUp: { readonly response: ReceivedResponse; readonly untilMs: number } | null;
  /** Requests that failed for good since one succeeded. */
  failures: number;
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
