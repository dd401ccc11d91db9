import { providerMoment } from "./clock.ts";

/** A window of the provider's rate limit, as one answer shows it. */
export interface RateWindow {
  /** Requests in one window; 0 where a 429 named none. */
  readonly limit: number;
  readonly remaining: number;
  /** Its end by this machine's clock; never too early, up to a second late. */
  readonly resetAtMs: number;
}

/** A window that claims to end later than this is not believed: the provider's are a minute long. */
export const maxWindowMs = 120_000;

/**
 * Reads `X-Rate-Limit-*`. null where they are missing or describe no window: a limit of 0 means too many
 * requests in flight, and a window that ended before the answer is not the present one.
 */
export function parseWindow(headers: Headers, receivedAtMs: number): RateWindow | null {
  const limit = wholeNumber(headers.get("x-rate-limit-limit"));
  const remaining = wholeNumber(headers.get("x-rate-limit-remaining"));
  const resetSeconds = wholeNumber(headers.get("x-rate-limit-reset"));
  if (limit === null || limit === 0 || remaining === null || resetSeconds === null) return null;
  const leftMs = resetSeconds * 1000 - providerMs(headers, receivedAtMs);
  return leftMs < 0 || leftMs > maxWindowMs ? null : { limit, remaining, resetAtMs: receivedAtMs + leftMs };
}

/** `Retry-After` in milliseconds, from seconds or a date; null without one. */
export function parseRetryAfterMs(headers: Headers, receivedAtMs: number): number | null {
  const text = headers.get("retry-after");
  if (text === null) return null;
  const seconds = wholeNumber(text);
  if (seconds !== null) return seconds * 1000;
  const untilMs = Date.parse(text);
  return Number.isNaN(untilMs) ? null : Math.max(0, untilMs - providerMs(headers, receivedAtMs));
}

/**
 * The endpoint of a path, identifiers taken out: that of `/api/v1/policies/00p1/rules` reads `policies * rules`. Its first
 * word is the family.
 */
export function endpointOf(path: string): { readonly endpoint: string; readonly family: string } {
  const [, ...segments] = path.split(/[?#]/, 1)[0]?.split("/") ?? [];
  const names = segments.slice(2).map((segment, index) => (index % 2 === 1 ? "*" : segment));
  // A list of policies of another type is another question: what refuses the one need not refuse the other.
  const type = /[?&]type=([^&#]*)/.exec(path)?.[1];
  return {
    endpoint: [...names, ...(type === undefined ? [] : [`type=${type}`])].join(" "),
    family: names[0] ?? "",
  };
}

/** The provider's time of an answer. Without a `Date` the clocks are taken to agree. */
function providerMs(headers: Headers, receivedAtMs: number): number {
  return providerMoment(headers, receivedAtMs)?.providerMs ?? receivedAtMs;
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
}
