import { createHash, randomBytes } from "node:crypto";
import { calculateJwkThumbprint, compactVerify, exportJWK, SignJWT, type CryptoKey, type JWK } from "jose";
import { orgSigningKeys } from "../auth/access_tokens.ts";
import type { Person, SignInOptions } from "./people.ts";

/** What was granted to a person's browser. */
export interface UserGrant {
  readonly person: Person;
  readonly scopes: readonly string[];
  /** For the session at the org. */
  readonly sessionId: string;
  readonly authTimeSeconds: number;
  /** For the authorization request; null: it had none. */
  readonly nonce: string | null;
}

export interface UserTokens {
  /** The public half, with its `kid`. */
  readonly publicJwk: JWK;
  readonly lifetimeSeconds: number;
  issueAccessToken(grant: Pick<UserGrant, "person" | "scopes">, nowSeconds: number): Promise<string>;
  issueIdToken(grant: UserGrant, accessToken: string, nowSeconds: number): Promise<string>;
  /** The claims of a token that was signed here, also of one that has expired; null for any other. */
  read(token: string): Promise<Readonly<Record<string, unknown>> | null>;
}

const defaultLifetimeSeconds = 300;

export async function createUserTokens(issuer: string, options: SignInOptions): Promise<UserTokens> {
  const { publicKey, privateKey } = await orgSigningKeys();
  const publicJwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  const { audience, client, tenantClaim, tokenLifetimeSeconds: lifetimeSeconds = defaultLifetimeSeconds } = options;
  return {
    publicJwk: { ...publicJwk, kid, alg: "RS256", use: "sig" },
    lifetimeSeconds,
    issueAccessToken({ person, scopes }, nowSeconds) {
      const { login, name, tenantIds } = person;
      const tenants = tenantIds.length === 1 ? tenantIds[0] : tenantIds;
      return sign(
        privateKey,
        {
          iss: issuer,
          aud: audience,
          sub: login,
          jti: `AT.${randomBytes(24).toString("base64url")}`,
          ver: 1,
          cid: client.clientId,
          scp: [...scopes],
          ...(scopes.includes("profile") ? { name } : {}),
          ...(tenantIds.length === 0 ? {} : { [tenantClaim]: tenants }),
        },
        { kid, nowSeconds, lifetimeSeconds },
      );
    },
    issueIdToken({ person, scopes, sessionId, authTimeSeconds, nonce }, accessToken, nowSeconds) {
      return sign(
        privateKey,
        {
          iss: issuer,
          aud: client.clientId,
          sub: person.login,
          ver: 1,
          sid: sessionId,
          auth_time: authTimeSeconds,
          at_hash: createHash("sha256").update(accessToken).digest().subarray(0, 16).toString("base64url"),
          ...claimsOf(person, scopes),
          ...(nonce === null ? {} : { nonce }),
        },
        { kid, nowSeconds, lifetimeSeconds: 3600 },
      );
    },
    async read(token) {
      try {
        const { payload, protectedHeader } = await compactVerify(token, publicKey, { algorithms: ["RS256"] });
        if (protectedHeader.kid !== kid) return null;
        const claims = JSON.parse(new TextDecoder().decode(payload)) as Readonly<Record<string, unknown>>;
        return claims["iss"] === issuer ? claims : null;
      } catch {
        return null;
      }
    },
  };
}

/** What the scopes give about a person. */
export function claimsOf({ login, name }: Person, scopes: readonly string[]): Readonly<Record<string, unknown>> {
  return {
    ...(scopes.includes("profile") ? { name, preferred_username: login } : {}),
    ...(scopes.includes("email") ? { email: login, email_verified: true } : {}),
  };
}

interface Signed {
  readonly kid: string;
  readonly nowSeconds: number;
  readonly lifetimeSeconds: number;
}

function sign(
  key: CryptoKey,
  claims: Readonly<Record<string, unknown>>,
  { kid, nowSeconds, lifetimeSeconds }: Signed,
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ kid, alg: "RS256" })
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + lifetimeSeconds)
    .sign(key);
}
