import { compactVerify, decodeJwt, decodeProtectedHeader } from "jose";
import { signatureAlgorithms, type ReplayGuard } from "./dpop_proof.ts";
import type { JWK, JWTPayload } from "jose";

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const maxLifetimeSeconds = 3600;

/** A service application that the org knows. */
export interface RegisteredClient {
  readonly clientId: string;
  /** Public keys, each with its `kid`. */
  readonly keys: readonly JWK[];
  /** With their prefix, `okta.apps.read`. */
  readonly grantedScopes: ReadonlySet<string>;
}

export interface AssertionContext {
  /** The full URL of the token endpoint: nothing else is accepted as audience. */
  readonly audience: string;
  readonly nowSeconds: number;
  readonly replays: ReplayGuard;
}

/** Private-key client authentication (RFC 7523): the client, or the provider's error text. */
export async function authenticateClient(
  form: URLSearchParams,
  clients: readonly RegisteredClient[],
  context: AssertionContext,
): Promise<RegisteredClient | string> {
  const assertion = form.get("client_assertion");
  if (assertion === null || form.get("client_assertion_type") !== assertionType) {
    return "Client authentication failed. Either the client or the client credentials are invalid.";
  }
  let claims: JWTPayload;
  let kid: string | undefined;
  try {
    claims = decodeJwt(assertion);
    kid = decodeProtectedHeader(assertion).kid;
  } catch {
    return "The client_assertion is not a valid JWT.";
  }
  if (claims.iss !== claims.sub) return "The issuer and subject of the client_assertion must both be the client_id.";
  const client = clients.find(({ clientId }) => clientId === claims.iss);
  if (client === undefined) return "Invalid value for 'client_id' parameter.";
  return (
    refuseClaims(claims, context) ??
    (await refuseSignature(assertion, kid, client.keys)) ??
    refuseReplay(claims, context) ??
    client
  );
}

function refuseClaims(claims: JWTPayload, context: AssertionContext): string | null {
  if (claims.aud !== context.audience) {
    return "The audience claim for client_assertion must be the endpoint invoked for the request.";
  }
  if (typeof claims.exp !== "number") return "The client_assertion token must have an expiration.";
  if (claims.exp <= context.nowSeconds) return "The client_assertion token is expired.";
  if (claims.exp > context.nowSeconds + maxLifetimeSeconds) {
    return "The client_assertion token has an expiration too far into the future.";
  }
  // The provider's words, although it means "in the future".
  if (claims.iat !== undefined && claims.iat > context.nowSeconds) {
    return "The client_assertion token was issued before the current time.";
  }
  return null;
}

async function refuseSignature(
  assertion: string,
  kid: string | undefined,
  keys: readonly JWK[],
): Promise<string | null> {
  const key = kid === undefined && keys.length === 1 ? keys[0] : keys.find((candidate) => candidate.kid === kid);
  if (key === undefined) return "The client_assertion JWT kid is invalid.";
  try {
    await compactVerify(assertion, key, { algorithms: [...signatureAlgorithms] });
    return null;
  } catch {
    return "The client_assertion signature is invalid.";
  }
}

/** `jti` is optional; an assertion that has one can be used once. */
function refuseReplay(claims: JWTPayload, context: AssertionContext): string | null {
  if (claims.jti === undefined || context.replays.admit(claims.jti)) return null;
  return "The client_assertion token has already been used.";
}
