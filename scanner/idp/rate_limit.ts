import { providerMoment } from "./clock.ts";

/** What one answer says about its rate limit window, in this machine's time. */
export interface RateFacts {
  readonly limit: number;
  readonly remaining: number;
  /** The provider's own end of the window, seconds since its epoch: together with the limit it tells windows apart. */
  readonly resetSeconds: number;
  /** When the window ends by this machine's clock, by the answer's own `Date`; never too early, up to a second late. */
  readonly resetAtMs: number;
}

/** A window that claims to end later than this is not believed: the provider's are a minute long. */
export const maxWindowMs = 120_000;

/**
 * Reads `X-Rate-Limit-*`. null where they are missing or describe no window: a limit of 0 is how the provider says that
 * too many requests are under way at once, and a window that is long over says nothing about the present one.
 */
export function parseRateFacts(headers: Headers, receivedAtMs: number): RateFacts | null {
  const limit = wholeNumber(headers.get("x-rate-limit-limit"));
  const remaining = wholeNumber(headers.get("x-rate-limit-remaining"));
  const resetSeconds = wholeNumber(headers.get("x-rate-limit-reset"));
  if (limit === null || limit === 0 || remaining === null || resetSeconds === null) return null;
  const nowByProviderMs = providerMoment(headers, receivedAtMs)?.providerMs ?? receivedAtMs;
  const leftMs = resetSeconds * 1000 - nowByProviderMs;
  if (leftMs < -2000 || leftMs > maxWindowMs) return null;
  return { limit, remaining, resetSeconds, resetAtMs: receivedAtMs + Math.max(0, leftMs) };
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
  return { endpoint: names.join(" "), family };
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
}
