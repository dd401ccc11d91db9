import { createInlineKeys, createJwtVerifier, createRemoteKeys, type JwtVerifier } from "../auth/jwt.ts";
import type { AuthConfig } from "../config.ts";

type IssuerConfig = Exclude<AuthConfig, { readonly kind: "local" }>;

/** Accepts the JWTs of the configured issuer. Rejects with `UsageError` for keys that cannot be imported. */
export async function createIssuerVerifier(auth: IssuerConfig): Promise<JwtVerifier> {
  const { issuer, audience, tenantClaim } = auth;
  const nowMs = Date.now;
  const keys = auth.kind === "jwks" ? await createInlineKeys(auth.jwks) : createRemoteKeys({ url: auth.url, nowMs });
  return createJwtVerifier({ keys, issuer, audience, tenantClaim, nowMs });
}
