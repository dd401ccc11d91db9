import { randomBytes } from "node:crypto";

interface AccessTokenFields {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Thumbprint of the key that the token is bound to; null for a bearer token. */
  readonly thumbprint: string | null;
}

export interface AccessTokens {
  issue(fields: AccessTokenFields, nowSeconds: number, lifetimeSeconds: number): string;
  /** Null when the org did not issue the token, or it has expired. */
  read(token: string, nowSeconds: number): AccessTokenFields | null;
}

/** Access tokens are opaque to clients. A restart ends every token, as a revocation would. */
export function createAccessTokens(): AccessTokens {
  const issued = new Map<string, AccessTokenFields & { readonly expiresAt: number }>();
  return {
    issue(fields, nowSeconds, lifetimeSeconds) {
      const token = randomBytes(96).toString("base64url");
      issued.set(token, { ...fields, expiresAt: nowSeconds + lifetimeSeconds });
      return token;
    },
    read(token, nowSeconds) {
      const fields = issued.get(token);
      return fields === undefined || fields.expiresAt <= nowSeconds ? null : fields;
    },
  };
}
