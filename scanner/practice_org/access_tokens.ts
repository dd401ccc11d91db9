import { randomBytes } from "node:crypto";
import { generateKeyPair, jwtVerify, SignJWT } from "jose";

export interface AccessTokenFields {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Thumbprint of the key that the token is bound to; null for a bearer token. */
  readonly thumbprint: string | null;
}

export interface AccessTokens {
  issue(fields: AccessTokenFields, nowSeconds: number, lifetimeSeconds: number): Promise<string>;
  /** Null when the token is not ours, was changed, or has expired. */
  read(token: string, nowSeconds: number): Promise<AccessTokenFields | null>;
}

const tokenType = "application/okta-internal-at+jwt";

/** Signed with a key that lives as long as the org: a restart ends every token, as a revocation would. */
export async function createAccessTokens(issuer: string): Promise<AccessTokens> {
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  return {
    issue({ clientId, scopes, thumbprint }, nowSeconds, lifetimeSeconds) {
      return new SignJWT({
        ver: 1,
        cid: clientId,
        scp: [...scopes],
        ...(thumbprint === null ? {} : { cnf: { jkt: thumbprint } }),
      })
        .setProtectedHeader({ kid: "practice-org-signing-key", typ: tokenType, alg: "RS256" })
        .setJti(`AT.${randomBytes(24).toString("base64url")}`)
        .setIssuer(issuer)
        .setAudience(issuer)
        .setSubject(clientId)
        .setIssuedAt(nowSeconds)
        .setExpirationTime(nowSeconds + lifetimeSeconds)
        .sign(privateKey);
    },
    async read(token, nowSeconds) {
      try {
        const { payload } = await jwtVerify(token, publicKey, {
          algorithms: ["RS256"],
          typ: tokenType,
          issuer,
          audience: issuer,
          currentDate: new Date(nowSeconds * 1000),
        });
        const { cid, scp, cnf } = payload as { cid: string; scp: string[]; cnf?: { jkt: string } };
        return { clientId: cid, scopes: scp, thumbprint: cnf?.jkt ?? null };
      } catch {
        return null;
      }
    },
  };
}
