import { decodeJwt } from "jose";
import { providerMoment, type Clock, type ProviderClock } from "./clock.ts";
import type { IdpError } from "./idp_error.ts";
import { objectIn, parseBody } from "./json_answer.ts";
import { isJsonObject } from "../../shared/json.ts";
import { cleanProviderText } from "./provider_text.ts";
import { NetworkError, unreachableError } from "./network_error.ts";
import type { AccessToken, OAuthClient } from "./oauth_client.ts";
import { isClockRefusal, oauthError, tokenRefusal, unreadableToken } from "./token_errors.ts";
import type { ReceivedResponse, RequestSender } from "./request_sender.ts";
import { tokenPath } from "./http_transport.ts";

/** `invalid_scope` is an outcome and no error, because the scopes that are granted can be found out. */
export type TokenOutcome =
  | { readonly state: "token"; readonly token: AccessToken }
  | { readonly state: "invalid_scope"; readonly error: IdpError };

export interface TokenEndpointOptions {
  readonly orgUrl: string;
  readonly oauth: OAuthClient;
  readonly sender: RequestSender;
  readonly clock: Clock;
  readonly providerClock: ProviderClock;
}

/** How often one login follows a new nonce before it is an error. */
const maxNonceRetries = 3;
/** Below this a clock difference is within what assertions and proofs allow. */
const toleratedSkewMs = 25_000;
const defaultLifetimeSeconds = 3600;
const maxRenewalMarginMs = 60_000;

/** Asks for access tokens, and reads what the organization answers. */
export class TokenEndpoint {
  readonly #options: TokenEndpointOptions;
  #hasCorrectedClock = false;
  /** Why no proofs are sent any more; null while they are sent. */
  #proofRefusal: IdpError | null = null;

  constructor(options: TokenEndpointOptions) {
    this.#options = options;
  }

  /** Throws `IdpError`, or the signal's reason. */
  async request(scopes: readonly string[]): Promise<TokenOutcome> {
    for (let nonceRetries = 0; ;) {
      const sentAtMs = this.#options.clock.nowMs();
      const response = await this.#post(scopes);
      if (response.status === 200) return { state: "token", token: this.#read(response, sentAtMs) };
      const refusal = tokenRefusal(response, this.#options.orgUrl);
      const { error } = oauthError(response);
      if (error === "use_dpop_nonce" && response.headers.has("dpop-nonce") && nonceRetries++ < maxNonceRetries)
        continue;
      if (this.#mayCorrectClock(response)) continue;
      if (error === "invalid_dpop_proof" && this.#proofRefusal === null) {
        // An organization that does not take proofs may still give a plain Bearer token.
        this.#proofRefusal = refusal;
        continue;
      }
      if (error === "invalid_scope") return { state: "invalid_scope", error: refusal };
      throw error === "invalid_dpop_proof" ? (this.#proofRefusal ?? refusal) : refusal;
    }
  }

  async #post(scopes: readonly string[]): Promise<ReceivedResponse> {
    const { sender, oauth, orgUrl } = this.#options;
    const hasProof = this.#proofRefusal === null;
    try {
      return await sender.send({
        method: "POST",
        path: tokenPath,
        attempt: (send) => oauth.requestToken(send, { scopes, hasProof }),
      });
    } catch (error) {
      throw error instanceof NetworkError ? unreachableError(error, orgUrl) : error;
    }
  }

  /** Once per scan: a clock that is still wrong after that is not what is wrong. */
  #mayCorrectClock(response: ReceivedResponse): boolean {
    const moment = providerMoment(response.headers, response.receivedAtMs);
    if (this.#hasCorrectedClock || moment === null) return false;
    const { error } = oauthError(response);
    const isSkewed = Math.abs(this.#options.providerClock.distanceTo(moment)) > toleratedSkewMs;
    if (!isSkewed && !isClockRefusal(response)) return false;
    if (error !== "invalid_client" && error !== "invalid_dpop_proof") return false;
    this.#hasCorrectedClock = true;
    this.#options.providerClock.correct(moment);
    return true;
  }

  #read(response: ReceivedResponse, sentAtMs: number): AccessToken {
    if (parseBody(response.body).kind === "html") throw tokenRefusal(response, this.#options.orgUrl);
    const body = objectIn(response.body);
    const { access_token: value, token_type: givenType } = body;
    const type = typeof givenType === "string" ? tokenTypes[givenType.toLowerCase()] : undefined;
    // A token goes into a header: what cannot stand there is no token.
    if (typeof value !== "string" || !/^[\x21-\x7e]{1,16384}$/.test(value) || type === undefined) {
      throw unreadableToken(this.#options.orgUrl);
    }
    const claims = claimsOf(value);
    const seconds = lifetimeSeconds(body["expires_in"]) ?? claimedLifetime(claims) ?? defaultLifetimeSeconds;
    const marginMs = Math.min(maxRenewalMarginMs, seconds * 250);
    return {
      value,
      type,
      scopes: scopesIn(body["scope"]) ?? scopesIn(claims["scp"]),
      renewAtMs: sentAtMs + seconds * 1000 - marginMs,
    };
  }
}

const tokenTypes: Readonly<Record<string, AccessToken["type"]>> = { bearer: "Bearer", dpop: "DPoP" };

function scopesIn(value: unknown): readonly string[] | null {
  if (typeof value === "string") return value.split(/\s+/).filter((scope) => scope !== "");
  if (Array.isArray(value)) return value.filter((scope) => typeof scope === "string");
  return null;
}

function lifetimeSeconds(value: unknown): number | null {
  const seconds = typeof value === "string" ? Number(value) : value;
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0 ? seconds : null;
}

function claimedLifetime(claims: Readonly<Record<string, unknown>>): number | null {
  const { exp, iat } = claims;
  return typeof exp === "number" && typeof iat === "number" ? lifetimeSeconds(exp - iat) : null;
}

/** None in an opaque token. Not verified: only the provider relies on the token. */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const claims = cleanProviderText(decodeJwt(token), { pageField: "pageContent" });
    return isJsonObject(claims) ? claims : {};
  } catch {
    return {};
  }
}
