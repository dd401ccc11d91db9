import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { SignJWT, type JWTPayload } from "jose";
import { allowedUrl, tokenPath } from "./http_transport.ts";
import type { SigningKey } from "./private_key.ts";

export interface SentToken {
  readonly value: string;
  readonly type: "Bearer" | "DPoP";
}

export interface Signer {
  readonly orgUrl: string;
  readonly clientId: string;
  readonly key: SigningKey;
}

/** Before the present, so that a clock which is a little fast is not "issued before the current time". */
const backdatedSeconds = 30;
/** Survives a clock that is over four minutes slow. */
const assertionSeconds = 300;

/** Prepares requests, each with an assertion or a proof that is good for one use. */
export type SignedRequests = ReturnType<typeof createSignedRequests>;

export function createSignedRequests({ orgUrl, clientId, key }: Signer, nowSeconds: () => number) {
  const tokenUrl = orgUrl + tokenPath;
  // They live as long as this scan and never leave it.
  const proofKeys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const proofHeader = { typ: "dpop+jwt", alg: "ES256", jwk: proofKeys.publicKey.export({ format: "jwk" }) };

  return {
    /** A request for a token. `nonce`: the token endpoint's. */
    async forToken(scopes: readonly string[], nonce: string | null, hasProof: boolean) {
      const headers = hasProof ? { dpop: await proof({ htm: "POST", htu: tokenUrl }, nonce) } : {};
      const form = new URLSearchParams({
        grant_type: "client_credentials",
        scope: scopes.join(" "),
        client_id: clientId,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: await assertion(),
      });
      return { headers, form };
    },
    /** A GET below the API. `nonce`: the API's, which is another one. */
    async forResource(path: string, { value, type }: SentToken, nonce: string | null) {
      const { origin, pathname } = allowedUrl({ method: "GET", path }, orgUrl);
      const authorization = `${type} ${value}`;
      if (type === "Bearer") return { headers: { authorization } };
      const ath = createHash("sha256").update(value).digest("base64url");
      return { headers: { authorization, dpop: await proof({ htm: "GET", htu: origin + pathname, ath }, nonce) } };
    },
  };

  /** A client assertion (RFC 7523). */
  function assertion(): Promise<string> {
    const iat = nowSeconds() - backdatedSeconds;
    const times = { iat, nbf: iat, exp: iat + assertionSeconds };
    return new SignJWT({ iss: clientId, sub: clientId, aud: tokenUrl, jti: randomUUID(), ...times })
      .setProtectedHeader({ typ: "JWT", alg: key.alg, ...(key.kid !== null && { kid: key.kid }) })
      .sign(key.key);
  }

  /** A proof that the sender of a request has the key that its token is bound to (RFC 9449). */
  function proof(claims: JWTPayload, nonce: string | null): Promise<string> {
    return new SignJWT({ ...claims, iat: nowSeconds(), jti: randomUUID(), ...(nonce !== null && { nonce }) })
      .setProtectedHeader(proofHeader)
      .sign(proofKeys.privateKey);
  }
}
