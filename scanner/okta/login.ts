import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { SignJWT, type JWTPayload } from "jose";
import * as v from "valibot";
import type { ConnectionSettings } from "./connection_settings.ts";
import { allowedUrl, tokenPath, type HttpRequest, type ReceivedResponse } from "./http_transport.ts";
import { grantRemedy, IdpError } from "./idp_error.ts";
import { NetworkError, unreachableError } from "./network_error.ts";
import type { RequestSender } from "./request_sender.ts";
import { asksForNonce, clockRefusal, oauthError, tokenRefusal } from "./refusals.ts";

interface AccessToken {
  readonly value: string;
  readonly type: "Bearer" | "DPoP";
  /** With the provider's prefix. */
  readonly scopes: readonly string[];
  /** A time of this machine's clock. */
  readonly renewAtMs: number;
}

export interface LoginParts {
  readonly org: { readonly id: string | null; readonly scopePrefix: string };
  readonly sender: RequestSender;
}

/** How often one request follows a new nonce before it is an error. */
const maxNonceRetries = 3;
/** How many tokens are replaced in one scan because the provider refused them before their time. */
const maxEarlyRenewals = 5;
/** Below this a clock difference is within what assertions and proofs allow. */
export const toleratedSkewMs = 25_000;
const defaultLifetimeSeconds = 3600;
const maxRenewalMarginMs = 60_000;
/** Before the present, so that a clock which is a little fast is not "issued before the current time". */
const backdatedSeconds = 30;
/** Survives a clock that is over four minutes slow. */
const assertionSeconds = 300;

/**
 * The service application's login: client credentials with a private-key JWT (RFC 7523) and a DPoP proof (RFC 9449). It sends nothing
 * before its first use, and renews the token before it expires, by one request for all callers.
 */
export class Login {
  /** With the provider's prefix: `okta.policies.read`. */
  readonly requested: readonly string[];
  readonly #config: ConnectionSettings;
  readonly #parts: LoginParts;
  /** The key of proofs; it lives as long as this scan and never leaves it. */
  readonly #proofKeys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  #token: AccessToken | null = null;
  #renewal: Promise<AccessToken> | null = null;
  /** The scopes that a token is requested with. After an `invalid_scope`, only the granted ones. */
  #scopes: readonly string[];
  #earlyRenewals = 0;
  /** How far the provider's clock is ahead; null until it has found our time wrong, because a `Date` header may be a cache's. */
  #aheadMs: number | null = null;
  /** Why no proofs are sent any more; null while they are sent. */
  #proofRefusal: IdpError | null = null;

  constructor(config: ConnectionSettings, parts: LoginParts) {
    this.#config = config;
    this.#parts = parts;
    this.requested = config.scopes.map((scope) => this.fullName(scope));
    this.#scopes = this.requested;
  }

  /** A scope with the provider's prefix. */
  fullName(scope: string): string {
    return `${this.#parts.org.scopePrefix}.${scope}`;
  }

  /** The provider's time, as far as it has found ours wrong. */
  nowMs(): number {
    return this.#parts.sender.clock.nowMs() + (this.#aheadMs ?? 0);
  }

  /** The scopes that the latest token carries, with the provider's prefix. */
  get granted(): readonly string[] {
    return this.#token?.scopes ?? [];
  }

  /** A token that is good for now. Throws `IdpError`, or the signal's reason. */
  async current(): Promise<AccessToken> {
    if (this.#token !== null && this.#parts.sender.clock.nowMs() < this.#token.renewAtMs) return this.#token;
    this.#renewal ??= this.#logIn().finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  /**
   * A GET below the API, sent again with a new nonce or a new token where the provider asks for it, or by its clock. Throws `NetworkError`, `IdpError`,
   * `ForbiddenRequest`, or the signal's reason.
   */
  async get(path: string): Promise<ReceivedResponse> {
    for (let isRetry = false; ; isRetry = true) {
      let token: AccessToken | null = null;
      const response = await this.#send("GET", path, async () => {
        token = await this.current();
        return { headers: await this.#authorize(path, token) };
      });
      if (isRetry || token === null) return response;
      const isOtherNow = isTokenRefused(response)
        ? await this.#replace(token)
        : response.status === 400 && this.#correctsClock(response);
      if (!isOtherNow) return response;
    }
  }

  /** Sends a request, again with a new nonce each time the provider asks for one. */
  async #send(
    method: "GET" | "POST",
    path: string,
    prepare: () => Promise<Pick<HttpRequest, "headers" | "form">>,
  ): Promise<ReceivedResponse> {
    for (let retries = 0; ; retries++) {
      const { sender } = this.#parts;
      const response = await sender.send({ method, path, prepare });
      const nonce = response.headers.get("dpop-nonce");
      sender.nonces[method] = nonce ?? sender.nonces[method];
      if (nonce === null || !asksForNonce(response) || retries === maxNonceRetries) return response;
    }
  }

  /** A token with these scopes. That one is not granted is a result, because the granted ones can be found out. */
  async #request(scopes: readonly string[]): Promise<AccessToken | IdpError> {
    const { orgUrl } = this.#config;
    for (let isRetry = false; ; isRetry = true) {
      const response = await this.#send("POST", tokenPath, () => this.#prepareToken(scopes)).catch((error: unknown) => {
        throw error instanceof NetworkError ? unreachableError(error, orgUrl) : error;
      });
      if (response.status === 200 && response.body.kind !== "html") return this.#read(response, scopes);
      const refusal = tokenRefusal(response, orgUrl);
      const { error, description } = oauthError(response);
      if (error === "invalid_scope") return refusal;
      const isOfProof = error === "invalid_dpop_proof";
      if (!isRetry && (error === "invalid_client" || isOfProof) && this.#correctsClock(response, description)) continue;
      if (!isOfProof) throw refusal;
      if (this.#proofRefusal !== null) throw this.#proofRefusal;
      // An organization that does not take proofs may still give a plain Bearer token.
      this.#proofRefusal = refusal;
    }
  }

  #read({ body, receivedAtMs }: ReceivedResponse, requested: readonly string[]): AccessToken {
    const { success, output } = v.safeParse(tokenAnswer, body.object);
    const problem = "the token endpoint's answer holds no usable token";
    if (!success) throw new IdpError("no_token", `Cannot log in to ${this.#config.orgUrl}: ${problem}`);
    const { access_token: value, token_type: type, expires_in: seconds, scope } = output;
    return {
      value,
      type: type === "dpop" ? "DPoP" : "Bearer",
      scopes: scope?.split(/\s+/).filter((name) => name !== "") ?? requested,
      renewAtMs: receivedAtMs + seconds * 1000 - Math.min(maxRenewalMarginMs, seconds * 250),
    };
  }

  /** After a 401: true when the request is worth a retry, with the token that `current` gives then. */
  async #replace(refused: AccessToken): Promise<boolean> {
    if (this.#token === refused && this.#renewal === null) {
      if (++this.#earlyRenewals > maxEarlyRenewals) return false;
      this.#token = { ...refused, renewAtMs: 0 };
    }
    await this.current();
    return true;
  }

  async #logIn(): Promise<AccessToken> {
    let token = await this.#request(this.#scopes);
    if (token instanceof IdpError) {
      const granted = await this.#findGranted();
      if (granted.length === 0) throw this.#noScope(token.message);
      this.#scopes = granted;
      token = await this.#request(granted);
      if (token instanceof IdpError) throw token;
    }
    if (token.scopes.length === 0)
      throw this.#noScope(`Cannot read ${this.#config.orgUrl}: the access token carries no scope`);
    this.#token = token;
    return token;
  }

  #noScope(message: string): IdpError {
    const { id, scopePrefix } = this.#parts.org;
    const isWrongPrefix = id !== null && scopePrefix === "idp";
    const unset = 'Unset IDP_SCOPE_PREFIX: the scopes of an Okta organization begin with "okta."';
    return new IdpError("scopes", message, isWrongPrefix ? unset : grantRemedy(this.requested));
  }

  /** One request a scope, so at most as many as were requested, whichever are missing. */
  async #findGranted(): Promise<readonly string[]> {
    const granted: string[] = [];
    for (const scope of this.#scopes.length < 2 ? [] : this.#scopes)
      if (!((await this.#request([scope])) instanceof IdpError)) granted.push(scope);
    return granted;
  }

  /** False where the clock is not what is wrong. It may be set while a follower runs. */
  #correctsClock({ providerMs, receivedAtMs }: ReceivedResponse, description = ""): boolean {
    if (providerMs === null) return false;
    const aheadMs = providerMs - receivedAtMs;
    const isNamed = this.#aheadMs === null && clockRefusal.test(description);
    if (Math.abs(aheadMs - (this.#aheadMs ?? 0)) <= toleratedSkewMs && !isNamed) return false;
    this.#aheadMs = aheadMs;
    return true;
  }

  /** One attempt at a request for a token, with an assertion that is good for one use (RFC 7523). */
  async #prepareToken(scopes: readonly string[]) {
    const { orgUrl, clientId, key } = this.#config;
    const tokenUrl = orgUrl + tokenPath;
    const iat = this.#nowSeconds() - backdatedSeconds;
    const times = { iat, nbf: iat, exp: iat + assertionSeconds };
    const assertion = new SignJWT({ iss: clientId, sub: clientId, aud: tokenUrl, jti: randomUUID(), ...times })
      .setProtectedHeader({ typ: "JWT", alg: key.alg, ...(key.kid !== null && { kid: key.kid }) })
      .sign(key.key);
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      scope: scopes.join(" "),
      client_id: clientId,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await assertion,
    });
    const hasProof = this.#proofRefusal === null;
    return { headers: hasProof ? { dpop: await this.#proof({ htm: "POST", htu: tokenUrl }) } : {}, form };
  }

  /** The headers of one attempt at a GET below the API. */
  async #authorize(path: string, { value, type }: AccessToken) {
    const { origin, pathname } = allowedUrl({ method: "GET", path }, this.#config.orgUrl);
    const authorization = `${type} ${value}`;
    if (type === "Bearer") return { authorization };
    const ath = createHash("sha256").update(value).digest("base64url");
    return { authorization, dpop: await this.#proof({ htm: "GET", htu: origin + pathname, ath }) };
  }

  /** A proof, good for one use, that the sender of a request has the key that its token is bound to (RFC 9449). */
  #proof(claims: JWTPayload & { readonly htm: "GET" | "POST" }): Promise<string> {
    const nonce = this.#parts.sender.nonces[claims.htm];
    const jwk = this.#proofKeys.publicKey.export({ format: "jwk" });
    return new SignJWT({ ...claims, iat: this.#nowSeconds(), jti: randomUUID(), ...(nonce !== null && { nonce }) })
      .setProtectedHeader({ typ: "dpop+jwt", alg: "ES256", jwk })
      .sign(this.#proofKeys.privateKey);
  }

  #nowSeconds(): number {
    return Math.floor(this.nowMs() / 1000);
  }
}

/** An answer of 200. A token goes into a header: what cannot stand there is no token. */
const tokenAnswer = v.object({
  access_token: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,16384}$/)),
  token_type: v.pipe(v.string(), v.toLowerCase(), v.picklist(["bearer", "dpop"])),
  expires_in: v.fallback(v.pipe(v.unknown(), v.transform(Number), v.finite(), v.gtValue(0)), defaultLifetimeSeconds),
  scope: v.fallback(v.nullable(v.string()), null),
});

/** E0000015 is a 401 too, but for a feature that is off, no matter what the token. */
function isTokenRefused(response: ReceivedResponse): boolean {
  return response.status === 401 && response.body.object["errorCode"] !== "E0000015" && !asksForNonce(response);
}
