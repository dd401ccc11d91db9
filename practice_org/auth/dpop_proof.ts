import { createHash } from "node:crypto";
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify, type JWK } from "jose";

export const signatureAlgorithms = ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512"] as const;

const maxAgeSeconds = 300;

export type ProofVerdict =
  | { readonly isValid: true; readonly thumbprint: string; readonly nonce: string | null }
  | { readonly isValid: false; readonly description: string };

export interface ProofContext {
  readonly method: string;
  /** Absolute, without query and fragment. */
  readonly url: string;
  readonly nowSeconds: number;
  readonly replays: ReplayGuard;
  /** On resource calls the proof is bound to the token by its hash. */
  readonly accessToken?: string;
}

/** RFC 9449, section 4.3, with the provider's words for what is wrong. */
export async function verifyProof(proof: string | undefined, context: ProofContext): Promise<ProofVerdict> {
  if (proof === undefined || proof === "") return refuse("The DPoP proof JWT header is missing.");
  let payload: Record<string, unknown>;
  let jwk: JWK | undefined;
  try {
    // The age is judged by `iat`, below: proofs have no `exp` of their own.
    const verified = await jwtVerify(proof, EmbeddedJWK, {
      algorithms: [...signatureAlgorithms],
      typ: "dpop+jwt",
      currentDate: new Date(context.nowSeconds * 1000),
    });
    payload = verified.payload;
    jwk = verified.protectedHeader.jwk;
  } catch {
    return refuse("The DPoP proof JWT is invalid.");
  }
  if (jwk === undefined) return refuse("The DPoP proof JWT is invalid.");
  if (payload["htm"] !== context.method) return refuse("'htm' claim in the DPoP proof JWT is invalid.");
  if (payload["htu"] !== context.url) return refuse("'htu' claim in the DPoP proof JWT is invalid.");
  const issuedAt = payload["iat"];
  if (typeof issuedAt !== "number") return refuse("'iat' claim in the DPoP proof JWT is invalid.");
  if (issuedAt < context.nowSeconds - maxAgeSeconds) return refuse("The DPoP proof JWT is expired.");
  if (issuedAt > context.nowSeconds + maxAgeSeconds) return refuse("The DPoP proof JWT is issued in the future.");
  if (context.accessToken !== undefined && payload["ath"] !== hashOf(context.accessToken)) {
    return refuse("'ath' claim in the DPoP proof JWT is invalid.");
  }
  const id = payload["jti"];
  if (typeof id !== "string" || id === "") return refuse("'jti' claim in the DPoP proof JWT is missing.");
  if (!context.replays.admit(id)) return refuse("The DPoP proof JWT has already been used.");
  const nonce = payload["nonce"];
  return {
    isValid: true,
    thumbprint: await calculateJwkThumbprint(jwk),
    nonce: typeof nonce === "string" ? nonce : null,
  };
}

function hashOf(accessToken: string): string {
  return createHash("sha256").update(accessToken).digest("base64url");
}

function refuse(description: string): ProofVerdict {
  return { isValid: false, description };
}

export interface ReplayGuard {
  /** True the first time an id is seen. */
  admit(id: string): boolean;
}

/** More than are used in the lifetime of an assertion or a proof. */
const maxReplayEntries = 100_000;

export function createReplayGuard(): ReplayGuard {
  const seen = new Set<string>();
  return {
    admit(id) {
      if (seen.has(id)) return false;
      if (seen.size === maxReplayEntries) seen.clear();
      seen.add(id);
      return true;
    },
  };
}
