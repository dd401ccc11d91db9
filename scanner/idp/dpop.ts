import { createHash, randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { ProviderClock } from "./clock.ts";

/** What a DPoP proof (RFC 9449) is bound to. */
interface ProofBinding {
  readonly method: string;
  /** The full URL; query and fragment are left out of the proof. */
  readonly url: string;
  /** The server's latest nonce; null as long as it asked for none. */
  readonly nonce: string | null;
  /** Of a resource request. */
  readonly accessToken?: string;
}

export interface DpopProver {
  /** A proof for one request: its `jti` is new each time. */
  prove(binding: ProofBinding): Promise<string>;
}

const algorithm = "ES256";

/** Makes proofs with a key pair of its own, which lives as long as this scan and never leaves it. */
export async function createDpopProver(clock: ProviderClock): Promise<DpopProver> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm);
  const jwk = await exportJWK(publicKey);
  return {
    prove({ method, url, nonce, accessToken }) {
      const { origin, pathname } = new URL(url);
      const claims = {
        htm: method,
        htu: origin + pathname,
        ...(nonce === null ? {} : { nonce }),
        ...(accessToken === undefined ? {} : { ath: createHash("sha256").update(accessToken).digest("base64url") }),
      };
      return new SignJWT(claims)
        .setProtectedHeader({ typ: "dpop+jwt", alg: algorithm, jwk })
        .setIssuedAt(clock.nowSeconds())
        .setJti(randomUUID())
        .sign(privateKey);
    },
  };
}
