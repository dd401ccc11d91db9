import { isJsonObject } from "../shared/json.ts";

/** Public keys that tokens are checked with, https://www.rfc-editor.org/rfc/rfc7517#section-5 */
export interface Jwks {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** Whose JWTs are accepted, with the issuer's public keys or their address. */
export type IssuerOptions = {
  readonly issuer: string;
  readonly audience: string;
  /** Default `tenant_id`. */
  readonly tenantClaim?: string;
} & ({ readonly url: string } | { readonly jwks: Jwks });

/** Null for what is not a set with at least one key, and for one that holds a secret. `jwt.ts` imports them. */
export function parseKeySet(text: string): Jwks | null {
  try {
    const parsed: unknown = JSON.parse(text);
    const keys = isJsonObject(parsed) ? parsed["keys"] : null;
    return Array.isArray(keys) && keys.length > 0 && keys.every(isNoSecret) ? { keys } : null;
  } catch {
    return null;
  }
}

/** A private or symmetric key here is a secret in the wrong place. */
function isNoSecret(key: unknown): key is Readonly<Record<string, unknown>> {
  return isJsonObject(key) && !("d" in key) && !("k" in key);
}
