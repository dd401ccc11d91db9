import type { RateLimitReading } from "./rate_limit.ts";

/** What is known of one window of the provider's rate limit, as its answers told it. */
export interface RateWindow {
  /** The least that any answer has shown to be left. */
  remaining: number;
  /** When, and by which family, that was seen. */
  seenAt: number;
  seenBy: string;
  /** Requests under way that will count in it. */
  active: number;
  resetAtMs: number;
  readonly resetSeconds: number;
  readonly limit: number;
}

interface Sighting {
  readonly family: string;
  readonly facts: RateLimitReading;
  readonly startedAt: number;
}

/** A shared window only ever empties: more left than another family saw before this request began means two windows. */
export function contradicts(window: RateWindow, { family, facts, startedAt }: Sighting): boolean {
  return window.seenBy !== family && window.seenAt < startedAt && facts.remaining >= window.remaining;
}

/** What tells windows apart; `family`: of a family that is known to count apart. */
export function signatureOf(facts: RateLimitReading, family: string | null): string {
  return `${facts.limit}/${facts.resetSeconds}/${family ?? ""}`;
}
