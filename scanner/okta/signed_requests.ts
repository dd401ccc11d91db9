import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { SignJWT, type JWTPayload } from "jose";
import { allowedUrl, tokenPath, type ReceivedResponse } from "./http_transport.ts";
import type { SigningKey } from "./private_key.ts";
import type { SendOnce } from "./request_sender.ts";

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

/** Each call sends one request, with an assertion or a proof that is good for one use. */
export type SignedRequests = ReturnType<typeof createSignedRequests>;

export function createSignedRequests({ orgUrl, clientId, key }: Signer, nowSeconds: () => number) {
  const tokenUrl = orgUrl + tokenPath;
  // They live as long as this scan and never leave it.
  const proofKeys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const proofHeader = { typ: "dpop+jwt", alg: "ES256", jwk: proofKeys.publicKey.export({ format: "jwk" }) };
  // The token endpoint and the API have each their own nonce.
  const nonces: { token?: string; resource?: string } = {};

  return {
    async requestToken(send: SendOnce, scopes: readonly string[], hasProof: boolean): Promise<ReceivedResponse> {
      const headers = hasProof ? { dpop: await proof({ htm: "POST", htu: tokenUrl }, "token") } : {};
      const form = new URLSearchParams({
        grant_type: "client_credentials",
        scope: scopes.join(" "),
        client_id: clientId,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: await assertion(),
      });
      return withNonce("token", await send({ headers, form }));
    },
    async get(send: SendOnce, path: string, { value, type }: SentToken): Promise<ReceivedResponse> {
      const { origin, pathname } = allowedUrl({ method: "GET", path }, orgUrl);
      const authorization = `${type} ${value}`;
      if (type === "Bearer") return send({ headers: { authorization } });
      const ath = createHash("sha256").update(value).digest("base64url");
      const dpop = await proof({ htm: "GET", htu: origin + pathname, ath }, "resource");
      return withNonce("resource", await send({ headers: { authorization, dpop } }));
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
  function proof(claims: JWTPayload, endpoint: keyof typeof nonces): Promise<string> {
    const nonce = nonces[endpoint];
    return new SignJWT({ ...claims, iat: nowSeconds(), jti: randomUUID(), ...(nonce !== undefined && { nonce }) })
      .setProtectedHeader(proofHeader)
      .sign(proofKeys.privateKey);
  }

  function withNonce(endpoint: keyof typeof nonces, response: ReceivedResponse): ReceivedResponse {
    const nonce = response.headers.get("dpop-nonce");
    if (nonce !== null) nonces[endpoint] = nonce;
    return response;
  }
}
