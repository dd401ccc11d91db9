import { providerMoment } from "./clock.ts";

/** Reading of a response's rate limit window, in this machine's time. */
export interface RateLimitReading {
  readonly limit: number;
  readonly remaining: number;
  /** The provider's own end of the window, seconds since its epoch: together with the limit it identifies the window. */
  readonly resetSeconds: number;
  /** When the window ends by this machine's clock; never too early, up to a second late. */
  readonly resetAtMs: number;
}

/** A window that claims to end later than this is not believed: the provider's are a minute long. */
export const maxWindowMs = 120_000;

/**
 * Reads `X-Rate-Limit-*`. null where they are missing or describe no window: a limit of 0 means too many
 * requests in flight, and a window that ended long ago is not the present one.
 */
export function parseRateLimit(headers: Headers, times: ResponseTimes): RateLimitReading | null {
  const limit = wholeNumber(headers.get("x-rate-limit-limit"));
  const remaining = wholeNumber(headers.get("x-rate-limit-remaining"));
  const resetSeconds = wholeNumber(headers.get("x-rate-limit-reset"));
  if (limit === null || limit === 0 || remaining === null || resetSeconds === null) return null;
  const leftMs = resetSeconds * 1000 - times.providerMs;
  if (leftMs < -2000 || leftMs > maxWindowMs) return null;
  return { limit, remaining, resetSeconds, resetAtMs: times.receivedAtMs + Math.max(0, leftMs) };
}

/** One moment by both clocks. */
export interface ResponseTimes {
  readonly receivedAtMs: number;
  /** By the provider's clock; never ahead of it. */
  readonly providerMs: number;
}

/**
 * Places responses in the provider's time more exactly than their `Date`, which is cut to the second: of all responses so
 * far the one that was stamped and received soonest after a full second shows the distance of the clocks.
 */
export class ProviderTime {
  #offsetMs: number | null = null;

  /** Without a `Date` the clocks are taken to agree. */
  at(
    headers: Headers,
    { sentAtMs, receivedAtMs }: { readonly sentAtMs: number; readonly receivedAtMs: number },
  ): ResponseTimes {
    const dateMs = providerMoment(headers, receivedAtMs)?.providerMs ?? null;
    if (dateMs === null) return { receivedAtMs, providerMs: receivedAtMs + (this.#offsetMs ?? 0) };
    const atLeastMs = dateMs - receivedAtMs;
    const atMostMs = dateMs + 1000 - sentAtMs;
    // Beyond what this response allows, one of the clocks was set.
    const isOutdated = this.#offsetMs === null || this.#offsetMs > atMostMs;
    this.#offsetMs = isOutdated ? atLeastMs : Math.max(this.#offsetMs ?? atLeastMs, atLeastMs);
    return { receivedAtMs, providerMs: receivedAtMs + this.#offsetMs };
  }
}

/** `Retry-After` in milliseconds, from seconds or a date; null without one. */
export function parseRetryAfterMs(headers: Headers, receivedAtMs: number): number | null {
  const text = headers.get("retry-after");
  if (text === null) return null;
  const seconds = wholeNumber(text);
  if (seconds !== null) return seconds * 1000;
  const untilMs = Date.parse(text);
  if (Number.isNaN(untilMs)) return null;
  return Math.max(0, untilMs - (providerMoment(headers, receivedAtMs)?.providerMs ?? receivedAtMs));
}

/**
 * The endpoint that a path belongs to, identifiers taken out: that of `/api/v1/policies/00p1/rules` reads `policies * rules`. Its
 * first word is the family; the provider counts by endpoint, by family, or over several families at once.
 */
export function endpointOf(path: string): { readonly endpoint: string; readonly family: string } {
  const [, ...segments] = path.split(/[?#]/, 1)[0]?.split("/") ?? [];
  const names = segments.slice(2).map((segment, index) => (index % 2 === 1 ? "*" : segment));
  const family = names[0] ?? "";
  // A list of policies of another type is another question: what refuses the one need not refuse the other.
  const type = /[?&]type=([^&#]*)/.exec(path)?.[1];
  return { endpoint: [...names, ...(type === undefined ? [] : [`type=${type}`])].join(" "), family };
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
}
