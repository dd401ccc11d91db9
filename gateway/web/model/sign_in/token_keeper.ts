import { pause } from "../../../../shared/abortable.ts";
import type { Credential } from "../session.ts";
import { beginSignIn, renewByRefreshToken, renewInFrame } from "./authorization.ts";
import { SignInError, type Provider } from "./provider.ts";
import type { TokenSet } from "./tokens.ts";

/** Early enough that a person who has to sign in again has some minutes for it. */
const marginMs = 300_000;
const marginShare = 0.2;
const retryMs = 3000;
/** Nobody waits longer for an issuer that cannot be reached. */
const graceMs = 60_000;

/** The tokens of a session, renewed before they end. */
export function keepTokens(provider: Provider, first: TokenSet, onChange: () => void) {
  const closing = new AbortController();
  let current = first;
  let endsAtMs: number | null = null;
  const attempt = shared(renewOnce);
  let timer: ReturnType<typeof setTimeout> | undefined;

  function dueMs(): number {
    return current.expiresAtMs - Math.min(marginMs, current.lifetimeMs * marginShare);
  }

  function schedule(atMs: number): void {
    clearTimeout(timer);
    // A timer of a browser holds 24 days.
    timer = setTimeout(() => void attempt(), Math.min(Math.max(0, atMs - Date.now()), 86_400_000));
  }

  /** Replaces a token that is refused. Waits for an issuer that is away: a laptop that wakes up has no network yet. */
  async function replace() {
    for (const untilMs = Date.now() + graceMs; Date.now() < untilMs; await pause(retryMs, [closing.signal])) {
      const outcome = await attempt();
      if (outcome !== "undecided" || closing.signal.aborted) return outcome;
    }
    return "ended";
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
      if (error instanceof SignInError && error.code === "try_again") {
        schedule(Date.now() + retryMs);
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
    if (endsAtMs === null && Date.now() >= dueMs()) void attempt();
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
    renew: shared(replace),
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

/** Gives callers that come while it runs the same outcome. */
function shared(work: Credential["renew"]): Credential["renew"] {
  let running: ReturnType<typeof work> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}

/** https://openid.net/specs/openid-connect-rpinitiated-1_0.html */
function toSignOutAddress(address: string, { client_id }: Provider, { idToken }: TokenSet): string {
  const url = new URL(address);
  url.searchParams.set("client_id", client_id);
  url.searchParams.set("post_logout_redirect_uri", new URL(".", document.baseURI).href);
  if (idToken !== null) url.searchParams.set("id_token_hint", idToken);
  return url.href;
}
