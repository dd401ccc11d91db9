import { decodeJwt } from "jose";
import { signClientAssertion } from "./client_assertion.ts";
import { providerMoment, type Clock, type ProviderClock } from "./clock.ts";
import type { DpopProver } from "./dpop.ts";
import type { IdpError } from "./idp_error.ts";
import { objectIn, parseBody } from "./json_answer.ts";
import { isJsonObject } from "../../shared/json.ts";
import { cleanProviderText } from "./provider_text.ts";
import { NetworkError, unreachableError } from "./network_error.ts";
import type { SigningKey } from "./private_key.ts";
import { isClockRefusal, oauthError, tokenRefusal, unreadableToken } from "./token_errors.ts";
import type { ReceivedResponse, RequestSender } from "./request_sender.ts";
import { tokenPath } from "./http_transport.ts";

export interface AccessToken {
  readonly value: string;
  readonly type: "Bearer" | "DPoP";
  /** What the token carries, as the provider writes it; null when neither the answer nor the token tells. */
  readonly scopes: readonly string[] | null;
  /** By this machine's clock. */
  readonly renewAtMs: number;
}

/** What a token request came to: `invalid_scope` is an answer, because the scopes that are granted can be found out. */
export type TokenOutcome =
  | { readonly state: "token"; readonly token: AccessToken }
  | { readonly state: "invalid_scope"; readonly error: IdpError };

export interface TokenEndpointOptions {
  readonly orgUrl: string;
  readonly clientId: string;
  readonly key: SigningKey;
  readonly transport: RequestSender;
  readonly clock: Clock;
  readonly providerClock: ProviderClock;
  readonly prover: DpopProver;
}

/** How often one login may be turned back with a new nonce before it is an error. */
const maxNonceTurns = 3;
/** Below this a clock difference is within what assertions and proofs allow. */
const toleratedSkewMs = 25_000;
const defaultLifetimeSeconds = 3600;
const maxRenewalMarginMs = 60_000;

/** Asks for access tokens with a private-key JWT (RFC 7523) and a DPoP proof (RFC 9449). */
export class TokenEndpoint {
  readonly #options: TokenEndpointOptions;
  #nonce: string | null = null;
  #hasCorrectedClock = false;
  /** Why proofs were given up for this organization; null while they are sent. */
  #proofRefusal: IdpError | null = null;

  constructor(options: TokenEndpointOptions) {
    this.#options = options;
  }

  /** True once the organization handed out a nonce. */
  get hasNonce(): boolean {
    return this.#nonce !== null;
  }

  /** Throws `IdpError`, or the signal's reason. */
  async request(scopes: readonly string[]): Promise<TokenOutcome> {
    for (let nonceTurns = 0; ;) {
      const sentAtMs = this.#options.clock.nowMs();
      const hadNonce = this.#nonce;
      const answer = await this.#post(scopes);
      this.#nonce = answer.headers.get("dpop-nonce") ?? this.#nonce;
      if (answer.status === 200) return { state: "token", token: this.#read(answer, sentAtMs) };
      const refusal = tokenRefusal(answer, this.#options.orgUrl);
      const { error } = oauthError(answer);
      if (error === "use_dpop_nonce" && this.#nonce !== hadNonce && nonceTurns++ < maxNonceTurns) continue;
      if (this.#mayCorrectClock(answer)) continue;
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
    const { transport, orgUrl } = this.#options;
    try {
      return await transport.send({ method: "POST", path: tokenPath, prepare: () => this.#prepare(scopes) });
    } catch (error) {
      throw error instanceof NetworkError ? unreachableError(error, orgUrl) : error;
    }
  }

  async #prepare(scopes: readonly string[]) {
    const { orgUrl, clientId, key, providerClock, prover } = this.#options;
    const audience = orgUrl + tokenPath;
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      scope: scopes.join(" "),
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await signClientAssertion({ clientId, key, audience, clock: providerClock }),
    });
    if (this.#proofRefusal !== null) return { headers: {}, form };
    return { headers: { dpop: await prover.prove({ method: "POST", url: audience, nonce: this.#nonce }) }, form };
  }

  /** Once per scan: a clock that is still wrong after that is not what is wrong. */
  #mayCorrectClock(answer: ReceivedResponse): boolean {
    const moment = providerMoment(answer.headers, answer.receivedAtMs);
    if (this.#hasCorrectedClock || moment === null) return false;
    const { error } = oauthError(answer);
    const isSkewed = Math.abs(this.#options.providerClock.distanceTo(moment)) > toleratedSkewMs;
    if (!isSkewed && !isClockRefusal(answer)) return false;
    if (error !== "invalid_client" && error !== "invalid_dpop_proof") return false;
    this.#hasCorrectedClock = true;
    this.#options.providerClock.correct(moment);
    return true;
  }

  #read(answer: ReceivedResponse, sentAtMs: number): AccessToken {
    if (parseBody(answer.body).kind === "html") throw tokenRefusal(answer, this.#options.orgUrl);
    const body = objectIn(answer.body);
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

/** An opaque token has none. Nothing is verified: the token is the provider's business, its claims only tell the scopes. */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const claims = cleanProviderText(decodeJwt(token), { pageField: "pageContent" });
    return isJsonObject(claims) ? claims : {};
  } catch {
    return {};
  }
}
