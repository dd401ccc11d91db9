export interface ReplayGuard {
  /** True the first time an id is seen, false as long as it is remembered. */
  admit(id: string, nowSeconds: number): boolean;
}

/** Remembers ids for `lifetimeSeconds`, the newest `maxEntries` of them. */
export function createReplayGuard(lifetimeSeconds: number, maxEntries = 100_000): ReplayGuard {
  // A Map keeps insertion order, and every id lives equally long: the oldest is always first.
  const expiries = new Map<string, number>();
  return {
    admit(id, nowSeconds) {
      if ((expiries.get(id) ?? nowSeconds) > nowSeconds) return false;
      for (const [oldest, expiry] of expiries) {
        if (expiry > nowSeconds && expiries.size < maxEntries) break;
        expiries.delete(oldest);
      }
      expiries.set(id, nowSeconds + lifetimeSeconds);
      return true;
    },
  };
}
