import type { ReceivedResponse } from "./http_transport.ts";

/** A window of the provider's rate limit, as one answer shows it. */
export type RateWindow = NonNullable<ReturnType<typeof parseWindow>>;

/** A window that claims to end later than this is not believed: the provider's are a minute long. */
export const maxWindowMs = 120_000;

/**
 * Reads `X-Rate-Limit-*`. null where they are missing or describe no window: a limit of 0 means too many
 * requests in flight, and a window that ended before the answer is not the present one. `resetAtMs`: its end by this machine's clock,
 * never too early, up to a second late.
 */
export function parseWindow({ headers, providerMs, receivedAtMs }: ReceivedResponse) {
  const limit = wholeNumber(headers.get("x-rate-limit-limit"));
  const remaining = wholeNumber(headers.get("x-rate-limit-remaining"));
  const resetSeconds = wholeNumber(headers.get("x-rate-limit-reset"));
  if (limit === null || limit === 0 || remaining === null || resetSeconds === null) return null;
  const leftMs = resetSeconds * 1000 - (providerMs ?? receivedAtMs);
  return leftMs < 0 || leftMs > maxWindowMs ? null : { limit, remaining, resetAtMs: receivedAtMs + leftMs };
}

/** `Retry-After` in milliseconds, from seconds or a date; 0 without one. */
export function parseRetryAfterMs({ headers, providerMs, receivedAtMs }: ReceivedResponse): number {
  const text = headers.get("retry-after") ?? "";
  const seconds = wholeNumber(text);
  if (seconds !== null) return seconds * 1000;
  const untilMs = Date.parse(text);
  return Number.isNaN(untilMs) ? 0 : Math.max(0, untilMs - (providerMs ?? receivedAtMs));
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
}

/**
 * Requests of one family (`policies` below `/api/v1/`). The provider does not say which endpoints share a window, so each family is taken
 * to have one: while it is open, as many requests are in flight as it has left, and then none until its end. One request shows the window
 * of a family that has none open.
 */
export class RateFamily {
  /** The latest; undefined before the first answer, null when the last answer named none. */
  #window: RateWindow | null | undefined;
  inFlight = 0;
  /** Resolves when the request before may begin. */
  turns: Promise<unknown> = Promise.resolve();

  /** Null where its answers name no window. */
  get window(): RateWindow | null {
    return this.#window === undefined || this.#window?.limit === 0 ? null : this.#window;
  }

  /** Returns when the next request may be sent: 0 for now, infinity where an answer in flight decides. */
  blockedUntilMs(nowMs: number): number {
    const window = this.#window;
    if (window === null) return 0;
    if (window === undefined || !isOpen(window, nowMs)) return this.inFlight === 0 ? 0 : Number.POSITIVE_INFINITY;
    if (window.remaining > this.inFlight) return 0;
    return window.remaining > 0 ? Number.POSITIVE_INFINITY : window.resetAtMs;
  }

  /** Answers overtake each other, and endpoints of one family may have limits of their own: the least that is left counts. */
  learn(window: RateWindow | null, nowMs: number): void {
    const known = this.#window ?? null;
    if (known !== null && isOpen(known, nowMs)) {
      if (window === null || window.remaining > known.remaining) return;
      if (window.remaining === known.remaining && window.resetAtMs < known.resetAtMs) return;
    }
    this.#window = window;
  }
}

/** True while a window limits. If this machine's clock was set back, an old window would last for hours: it is not open. */
function isOpen({ resetAtMs }: RateWindow, nowMs: number): boolean {
  return resetAtMs > nowMs && resetAtMs <= nowMs + maxWindowMs;
}

/** An endpoint of the provider, and how its requests went. */
export interface Endpoint {
  readonly family: RateFamily;
  /** 429s in a row; the ones that arrive before `refusedUntilMs` count as one. */
  refusals: number;
  refusedUntilMs: number;
  /** Its 429s did not end: the last of them, given back without a request until `refusedUntilMs`; then one request is sent. */
  givenUp: ReceivedResponse | null;
  /** Requests that failed for good since one succeeded. */
  failures: number;
}

/** The endpoints that were asked, and the families whose limits they share. */
export class Endpoints {
  readonly #families = new Map<string, RateFamily>();
  readonly #endpoints = new Map<string, Endpoint>();

  of(path: string): Endpoint {
    const name = endpointOf(path);
    const [familyName = ""] = name.split(" ");
    const family = this.#families.get(familyName) ?? new RateFamily();
    const fresh = { family, refusals: 0, refusedUntilMs: 0, givenUp: null, failures: 0 };
    const endpoint = this.#endpoints.get(name) ?? fresh;
    this.#families.set(familyName, family);
    this.#endpoints.set(name, endpoint);
    return endpoint;
  }

  /** The latest window of each family whose answers name one. `family`: first word of its endpoints' paths below the API, `policies`. */
  windows() {
    return [...this.#families].flatMap(([family, { window }]) => (window === null ? [] : [{ family, ...window }]));
  }
}

/**
 * The endpoint of a path, identifiers taken out: that of `/api/v1/policies/00p1/rules` reads `policies * rules`. Its first
 * word is the family.
 */
function endpointOf(path: string): string {
  const [, , , ...segments] = path.split(/[?#]/, 1)[0]?.split("/") ?? [];
  // A list of policies of another type is another question: what refuses the one need not refuse the other.
  const type = /[?&]type=[^&#]*/.exec(path) ?? [];
  return [...segments.map((segment, index) => (index % 2 === 1 ? "*" : segment)), ...type].join(" ");
}
