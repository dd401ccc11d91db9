import { isJsonObject } from "../../../../shared/json.ts";
import { toText } from "../api.ts";

/** A sign-in that is under way at the issuer: what the answer is checked against, and where to go on afterwards. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The fragment that was open. */
  readonly returnTo: string;
  /** Null: the person's first. */
  readonly tenantId: string | null;
}

/**
 * The only thing that is ever in storage, and only while this tab is at the issuer: the page is gone in the meantime, so memory
 * is not enough. Session storage belongs to one tab and ends with it; without the code that only this tab's address
 * receives, what is in it opens nothing. Tokens are never there.
 */
const key = "scanstream.sign_in";

export function keepPending(pending: PendingSignIn): void {
  sessionStorage.setItem(key, JSON.stringify(pending));
}

/** Removes it: an answer is for one use. Null: this tab has begun no sign-in. */
export function takePending(): PendingSignIn | null {
  const text = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  if (text === null) return null;
  try {
    const kept: unknown = JSON.parse(text);
    if (!isJsonObject(kept)) return null;
    const [state, nonce, verifier] = [toText(kept["state"]), toText(kept["nonce"]), toText(kept["verifier"])];
    if (state === null || nonce === null || verifier === null) return null;
    return { state, nonce, verifier, returnTo: toText(kept["returnTo"]) ?? "", tenantId: toText(kept["tenantId"]) };
  } catch {
    return null;
  }
}
