import { createInlineKeys, createJwtVerifier, createRemoteKeys, type JwtVerifier } from "../auth/jwt.ts";
import type { IssuerOptions } from "../gateway_options.ts";

/** Accepts the JWTs of the issuer. Rejects with `UsageError` for keys that cannot be imported. */
export async function createIssuerVerifier(options: IssuerOptions): Promise<JwtVerifier> {
  const { issuer, audience, tenantClaim = "tenant_id" } = options;
  const nowMs = Date.now;
  const keys = "jwks" in options ? await createInlineKeys(options.jwks) : createRemoteKeys({ url: options.url, nowMs });
  return createJwtVerifier({ keys, issuer, audience, tenantClaim, nowMs });
}
