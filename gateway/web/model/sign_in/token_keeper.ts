import { renewByRefreshToken, renewInFrame } from "./authorization.ts";
import type { Provider } from "./provider.ts";
import { SignInError, type TokenSet } from "./tokens.ts";

/** The tokens of a session, renewed before they end. */
export interface TokenKeeper {
  readonly current: TokenSet;
  /** When the session ends, where it cannot be renewed without the person; null: it can. */
  readonly endsAtMs: number | null;
  /** Resolves true when there are new tokens. Many that ask at once share one renewal. */
  renew(): Promise<boolean>;
  close(): void;
}

/** Early enough that a person who has to sign in again has some minutes for it. */
const marginMs = 300_000;
const marginShare = 0.2;
const retryMs = 10_000;

export function keepTokens(provider: Provider, first: TokenSet, onChange: () => void): TokenKeeper {
  const closing = new AbortController();
  let current = first;
  let endsAtMs: number | null = null;
  let renewing: Promise<boolean> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function dueMs(): number {
    return current.expiresAtMs - Math.min(marginMs, current.lifetimeMs * marginShare);
  }

  function schedule(atMs: number): void {
    clearTimeout(timer);
    // A timer of a browser holds 24 days.
    const delayMs = Math.min(Math.max(0, atMs - Date.now()), 86_400_000);
    timer = setTimeout(() => (Date.now() >= dueMs() ? void renew() : schedule(dueMs())), delayMs);
  }

  function renew(): Promise<boolean> {
    renewing ??= renewOnce().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  async function renewOnce(): Promise<boolean> {
    try {
      current = await request();
      endsAtMs = null;
      schedule(dueMs());
      return true;
    } catch (error) {
      if (closing.signal.aborted) return false;
      // Nothing was decided: a laptop that wakes up has no network yet.
      if (error instanceof SignInError && error.code === "try_again" && Date.now() < current.expiresAtMs) {
        schedule(Math.min(Date.now() + retryMs, Date.now() + (current.expiresAtMs - Date.now()) / 2));
        return false;
      }
      endsAtMs = current.expiresAtMs;
      return false;
    } finally {
      if (!closing.signal.aborted) onChange();
    }
  }

  async function request(): Promise<TokenSet> {
    const { refreshToken } = current;
    if (refreshToken !== null) {
      try {
        return await renewByRefreshToken(provider, { ...current, refreshToken }, closing.signal);
      } catch (error) {
        if (!(error instanceof SignInError && error.code === "sign_in")) throw error;
        // Ended, or used by somebody else: the issuer's own session may still be there.
        current = { ...current, refreshToken: null };
      }
    }
    return renewInFrame(provider, current, closing.signal);
  }

  /** Timers stand still while a machine sleeps. */
  function onWake(): void {
    if (endsAtMs === null && Date.now() >= dueMs()) void renew();
  }

  addEventListener("online", onWake, { signal: closing.signal });
  document.addEventListener("visibilitychange", onWake, { signal: closing.signal });
  schedule(dueMs());
  return {
    get current() {
      return current;
    },
    get endsAtMs() {
      return endsAtMs;
    },
    renew,
    close() {
      clearTimeout(timer);
      closing.abort();
    },
  };
}
