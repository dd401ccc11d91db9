import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import type { ProviderClock } from "./clock.ts";
import type { SigningKey } from "./private_key.ts";

/** Before the present, so that a clock which is a little fast is not "issued before the current time". */
const backdatedSeconds = 30;
const lifetimeSeconds = 300;

export interface AssertionOptions {
  readonly clientId: string;
  readonly key: SigningKey;
  /** The full token URL. */
  readonly audience: string;
  readonly clock: ProviderClock;
}

/**
 * A client assertion for one token request (RFC 7523). Its `jti` is new each time, because the provider takes none
 * twice; its lifetime survives a clock that is half a minute fast or over four minutes slow.
 */
export function signClientAssertion(options: AssertionOptions): Promise<string> {
  const { clientId, key, audience, clock } = options;
  const issuedAt = clock.nowSeconds() - backdatedSeconds;
  return new SignJWT()
    .setProtectedHeader({ alg: key.alg, typ: "JWT", ...(key.kid === null ? {} : { kid: key.kid }) })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(audience)
    .setJti(randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .sign(key.key);
}
