import { decodeJwt, type JWTPayload } from "jose";
import * as oauth from "oauth4webapi";
import { isUuid } from "../../../../shared/channel_name.ts";
import { shellWord } from "../../../../shared/text.ts";
import { signatureAlgorithms } from "../../../auth/signature_algorithms.ts";
import { SignInError, type Provider } from "./provider.ts";

/** Tokens from the issuer. They are in the memory of this tab and nowhere else. */
export interface TokenSet {
  readonly accessToken: string;
  readonly idToken: string | null;
  /** Null: it gave none. */
  readonly refreshToken: string | null;
  /** The person's `sub` at the issuer. */
  readonly subject: string;
  /** Time of this machine's clock. */
  readonly expiresAtMs: number;
  readonly lifetimeMs: number;
}

/** A clock may be wrong by this much. */
const clockToleranceSeconds = 300;
/** Lifetime of a token that does not say it. */
const defaultLifetimeSeconds = 300;

/**
 * The library's view of the issuer. Signatures of id tokens are not checked: they come from the issuer's own address,
 * https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
 */
export function describe(provider: Provider) {
  const { end_session_endpoint: _, ...addresses } = provider.endpoints;
  const server: oauth.AuthorizationServer = {
    issuer: provider.issuer,
    ...addresses,
    id_token_signing_alg_values_supported: signatureAlgorithms,
  };
  const client: oauth.Client = { client_id: provider.client_id, [oauth.clockTolerance]: clockToleranceSeconds };
  // The gateway allows such an issuer on its own machine only.
  const options = { [oauth.allowInsecureRequests]: addresses.token_endpoint.startsWith("http:") };
  return { server, client, options };
}

export function toTokenSet(answer: oauth.TokenEndpointResponse, known: TokenSet | null): TokenSet {
  const claims = answer.id_token === undefined ? null : claimsOf(answer.id_token);
  const subject = claims?.["sub"] ?? known?.subject;
  if (typeof subject !== "string" || (known !== null && subject !== known.subject)) {
    throw new SignInError("sign_in", "Somebody else is signed in at the issuer now: sign in again");
  }
  const lifetimeMs = (answer.expires_in ?? lifetimeOf(answer.access_token)) * 1000;
  return {
    accessToken: answer.access_token,
    idToken: answer.id_token ?? known?.idToken ?? null,
    // Rotated or not: without a new one the old one stays good.
    refreshToken: answer.refresh_token ?? known?.refreshToken ?? null,
    subject,
    // Counts the lifetime from now, so that a wrong clock of this machine does not matter.
    expiresAtMs: Date.now() + lifetimeMs,
    lifetimeMs,
  };
}

/** Why the gateway cannot take the access token, before it is asked; null: it looks right. */
export function explainToken(
  { accessToken }: TokenSet,
  { issuer, audience, tenant_claim: tenantClaim }: Provider,
): string | null {
  const signedIn = "You signed in, but the issuer's access token";
  const claims = claimsOf(accessToken);
  if (claims === null) {
    const remedy = `at ${issuer} an API with the audience "${audience}" has to be set up for this application.`;
    return `${signedIn} is not a JWT that this gateway can check: ${remedy}`;
  }
  const audiences = [claims["aud"]].flat();
  if (!audiences.includes(audience)) {
    const named = audiences.map((aud) => JSON.stringify(aud)).join(", ");
    return `${signedIn} is for ${named}: this gateway expects the audience "${audience}".`;
  }
  const tenants = [claims[tenantClaim]].flat();
  if (tenants.length > 0 && tenants.every((tenant) => isUuid(tenant))) return null;
  const remedy = `its claim "${tenantClaim}" has to be the UUID of a tenant, or a list of them.`;
  return `${signedIn} does not say which tenant you belong to: ${remedy}`;
}

/** Says for whom an access token is, for a person who was refused. */
export function explainRefusal({ accessToken }: TokenSet, { tenant_claim: tenantClaim }: Provider): string {
  const claims = claimsOf(accessToken) ?? {};
  const subject = String(claims["sub"]);
  const tenants = [claims[tenantClaim]].flat().map(String);
  const many = tenants.length === 1 ? "the tenant" : "any of the tenants";
  return (
    `You signed in as ${subject}, who is not a member of ${many} ${tenants.join(", ")}. An admin of the tenant can add you, ` +
    `or the operator of the gateway: scanstream admin user create --tenant ${shellWord(tenants[0] ?? "")} --sub ${shellWord(subject)}`
  );
}

/** Unchecked: for display and for finding out early what the gateway will say. */
function claimsOf(token: string): JWTPayload | null {
  try {
    return decodeJwt(token);
  } catch {
    return null;
  }
}

function lifetimeOf(accessToken: string): number {
  const { exp, iat } = claimsOf(accessToken) ?? {};
  return typeof exp === "number" && typeof iat === "number" ? exp - iat : defaultLifetimeSeconds;
}
