import { epochSeconds, type Header } from "./messages.ts";

export interface RateLimit {
  /** Requests that a bucket admits in one window. */
  readonly perWindow: number;
  readonly windowSeconds: number;
  /** Buckets with a limit of their own: `apps`, `policies`, `token`, … */
  readonly buckets?: Readonly<Record<string, number>>;
}

export interface RateLimits {
  /** Counts one request. The headers describe the bucket after it. */
  take(bucket: string, nowMs: number): { readonly isAdmitted: boolean; readonly headers: readonly Header[] };
}

/** Fixed windows, one for each bucket; a window begins with the first request after the previous one ended. */
export function createRateLimits(limit: RateLimit): RateLimits {
  const windows = new Map<string, { used: number; resetSeconds: number }>();
  return {
    take(bucket, nowMs) {
      const now = epochSeconds(nowMs);
      let window = windows.get(bucket);
      if (window === undefined || now >= window.resetSeconds) {
        window = { used: 0, resetSeconds: now + limit.windowSeconds };
        windows.set(bucket, window);
      }
      const allowed = limit.buckets?.[bucket] ?? limit.perWindow;
      const isAdmitted = window.used < allowed;
      if (isAdmitted) window.used += 1;
      return { isAdmitted, headers: rateLimitHeaders(allowed, allowed - window.used, window.resetSeconds) };
    },
  };
}

export function rateLimitHeaders(limit: number, remaining: number, resetSeconds: number): readonly Header[] {
  return [
    ["x-rate-limit-limit", String(limit)],
    ["x-rate-limit-remaining", String(remaining)],
    ["x-rate-limit-reset", String(resetSeconds)],
  ];
}
