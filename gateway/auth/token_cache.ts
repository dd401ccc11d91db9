import { createSteadyClock } from "../../shared/steady_clock.ts";
import type { JwtVerifier } from "./jwt.ts";
import type { Identity } from "./identity.ts";

export interface TokenCacheOptions {
  /** A collision-resistant digest: the tokens themselves are not stored. */
  readonly digest: (token: string) => string;
  readonly nowMs: () => number;
  /** Default 10,000; the oldest make room. */
  readonly maxTokens?: number;
  /** How long a verification counts, so that a key taken out of service stops counting. Default 60,000. */
  readonly maxAgeMs?: number;
}

interface Verified {
  readonly identity: Promise<Identity>;
  /** Both Infinity while it is being verified. */
  untilMs: number;
  expiresAtMs: number;
}

/**
 * Caches verified tokens: a storm of reconnects brings the same tokens again, and a signature costs more than everything
 * else that is computed for a stream. Never beyond `exp`; a rejection is never cached. Membership is checked each time,
 * with the statements (`membership.ts`).
 */
export function withTokenCache(verifier: JwtVerifier, options: TokenCacheOptions): JwtVerifier {
  const { digest, nowMs, maxTokens = 10_000, maxAgeMs = 60_000 } = options;
  const tokens = new Map<string, Verified>();
  const steadyMs = createSteadyClock(nowMs);

  return {
    verify(token) {
      const key = digest(token);
      const known = tokens.get(key);
      if (known !== undefined && steadyMs() < known.untilMs && nowMs() < known.expiresAtMs) return known.identity;
      const verified: Verified = { identity: verifier.verify(token), untilMs: Infinity, expiresAtMs: Infinity };
      // Deleted first, so that it takes its place among the newest.
      tokens.delete(key);
      tokens.set(key, verified);
      if (tokens.size > maxTokens) removeOldest();
      verified.identity.then(
        ({ expiresAtMs }) => {
          verified.untilMs = steadyMs() + maxAgeMs;
          verified.expiresAtMs = expiresAtMs ?? Infinity;
        },
        () => {
          if (tokens.get(key) === verified) tokens.delete(key);
        },
      );
      return verified.identity;
    },
  };

  function removeOldest(): void {
    const [oldest] = tokens.keys();
    if (oldest !== undefined) tokens.delete(oldest);
  }
}
