import * as v from "valibot";
import { parseJsonObject } from "../../../../shared/json.ts";

const pendingSchema = v.object({
  state: v.string(),
  nonce: v.string(),
  verifier: v.string(),
  /** The fragment that was open. */
  returnTo: v.string(),
  /** Null: the person's first. */
  tenantId: v.nullable(v.string()),
});

/** A sign-in that is under way at the issuer: what the answer is checked against, and where to go on afterwards. */
export type PendingSignIn = Readonly<v.InferOutput<typeof pendingSchema>>;

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
  const text = sessionStorage.getItem(key) ?? "";
  sessionStorage.removeItem(key);
  const result = v.safeParse(pendingSchema, parseJsonObject(text));
  return result.success ? result.output : null;
}
