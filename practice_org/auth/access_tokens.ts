import { randomBytes } from "node:crypto";
import { generateKeyPair, jwtVerify, SignJWT } from "jose";
import type { GenerateKeyPairResult } from "jose";

interface AccessTokenFields {
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

/** Shared by all orgs of the process: making one takes longer than everything else that an org does to start. */
let signingKeys: Promise<GenerateKeyPairResult> | undefined;

const tokenType = "application/okta-internal-at+jwt";

/** A restart ends every token, as a revocation would: an org takes only the ones that carry its own key id. */
export async function createAccessTokens(issuer: string): Promise<AccessTokens> {
  signingKeys ??= generateKeyPair("RS256");
  const { publicKey, privateKey } = await signingKeys;
  const kid = randomBytes(32).toString("base64url");
  return {
    issue({ clientId, scopes, thumbprint }, nowSeconds, lifetimeSeconds) {
      return new SignJWT({
        ver: 1,
        cid: clientId,
        scp: [...scopes],
        ...(thumbprint === null ? {} : { cnf: { jkt: thumbprint } }),
      })
        .setProtectedHeader({ kid, typ: tokenType, alg: "RS256" })
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
        const { payload, protectedHeader } = await jwtVerify(token, publicKey, {
          algorithms: ["RS256"],
          typ: tokenType,
          issuer,
          audience: issuer,
          currentDate: new Date(nowSeconds * 1000),
        });
        if (protectedHeader.kid !== kid) return null;
        const { cid, scp, cnf } = payload as { cid: string; scp: string[]; cnf?: { jkt: string } };
        return { clientId: cid, scopes: scp, thumbprint: cnf?.jkt ?? null };
      } catch {
        return null;
      }
    },
  };
}
