import type { Credential } from "../session.ts";
import { beginSignIn, renewByRefreshToken, renewInFrame } from "./authorization.ts";
import { SignInError, type Provider } from "./provider.ts";
import type { TokenSet } from "./tokens.ts";

/** Early enough that a person who has to sign in again has some minutes for it. */
const marginMs = 300_000;
const marginShare = 0.2;
const retryMs = 10_000;

/** The tokens of a session, renewed before they end. */
export function keepTokens(provider: Provider, first: TokenSet, onChange: () => void) {
  const closing = new AbortController();
  let current = first;
  let endsAtMs: number | null = null;
  let renewing: ReturnType<Credential["renew"]> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function dueMs(): number {
    return current.expiresAtMs - Math.min(marginMs, current.lifetimeMs * marginShare);
  }

  function schedule(atMs: number): void {
    clearTimeout(timer);
    // A timer of a browser holds 24 days.
    timer = setTimeout(() => void renew(), Math.min(Math.max(0, atMs - Date.now()), 86_400_000));
  }

  /** Many that ask at once share one renewal. */
  function renew(): ReturnType<Credential["renew"]> {
    renewing ??= renewOnce().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  async function renewOnce() {
    if (closing.signal.aborted) return "undecided";
    try {
      current = await request();
      endsAtMs = null;
      schedule(dueMs());
      return "renewed";
    } catch (error) {
      if (closing.signal.aborted) return "undecided";
      // Nothing was decided: a laptop that wakes up has no network yet.
      if (error instanceof SignInError && error.code === "try_again" && Date.now() < current.expiresAtMs) {
        schedule(Math.min(Date.now() + retryMs, Date.now() + (current.expiresAtMs - Date.now()) / 2));
        return "undecided";
      }
      endsAtMs = current.expiresAtMs;
      return "ended";
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
  function close(): void {
    clearTimeout(timer);
    closing.abort();
  }

  return {
    kind: "issuer",
    get authorization() {
      return `Bearer ${current.accessToken}`;
    },
    get endsAtMs() {
      return endsAtMs;
    },
    renew,
    signInAgain(tenantId) {
      void beginSignIn(provider, { returnTo: location.hash, tenantId });
    },
    signOut() {
      close();
      const { end_session_endpoint: address } = provider.endpoints;
      if (address !== null) location.assign(toSignOutAddress(address, provider, current));
    },
    close,
  } satisfies Credential;
}

/** https://openid.net/specs/openid-connect-rpinitiated-1_0.html */
function toSignOutAddress(address: string, { client_id }: Provider, { idToken }: TokenSet): string {
  const url = new URL(address);
  url.searchParams.set("client_id", client_id);
  url.searchParams.set("post_logout_redirect_uri", new URL(".", document.baseURI).href);
  if (idToken !== null) url.searchParams.set("id_token_hint", idToken);
  return url.href;
}
