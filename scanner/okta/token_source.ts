import type { Clock } from "./clock.ts";
import { IdpError } from "./idp_error.ts";
import type { AccessToken } from "./oauth_client.ts";
import type { TokenEndpoint } from "./token_endpoint.ts";

export interface TokenSourceOptions {
  readonly orgUrl: string;
  readonly endpoint: TokenEndpoint;
  readonly clock: Clock;
  /** With the provider's prefix: `okta.policies.read`. */
  readonly scopes: readonly string[];
  /** Remedy when none of them is granted. */
  readonly noScopeRemedy: string;
}

/** How many tokens are replaced in one scan because the provider refused them before their time. */
const maxEarlyRenewals = 5;

/** Keeps a valid access token: renewed before it expires, by one request for all callers. */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  #token: AccessToken | null = null;
  #login: Promise<AccessToken> | null = null;
  /** Narrowed to what is granted after an `invalid_scope`. */
  #requested: readonly string[];
  #granted: readonly string[] = [];
  #earlyRenewals = 0;

  constructor(options: TokenSourceOptions) {
    this.#options = options;
    this.#requested = options.scopes;
  }

  /** The scopes that the latest token carries, with the provider's prefix. */
  get granted(): readonly string[] {
    return this.#granted;
  }

  /** A token that is good for now. Throws `IdpError`, or the signal's reason. */
  current(): Promise<AccessToken> {
    if (this.#token !== null && this.#options.clock.nowMs() < this.#token.renewAtMs)
      return Promise.resolve(this.#token);
    return this.#renew();
  }

  /** After a 401: true when the request is worth a retry, with the token that `current` gives then. */
  async replace(refused: AccessToken): Promise<boolean> {
    if (this.#token === refused || this.#token === null) {
      if (this.#login === null && ++this.#earlyRenewals > maxEarlyRenewals) return false;
      this.#token = null;
      await this.#renew();
    }
    return true;
  }

  #renew(): Promise<AccessToken> {
    this.#login ??= this.#logIn().finally(() => {
      this.#login = null;
    });
    return this.#login;
  }

  async #logIn(): Promise<AccessToken> {
    const { endpoint } = this.#options;
    let outcome = await endpoint.request(this.#requested);
    if (outcome.state === "invalid_scope") {
      const { error } = outcome;
      this.#requested = await this.#findGranted(error);
      outcome = await endpoint.request(this.#requested);
      if (outcome.state === "invalid_scope") throw outcome.error;
    }
    const { token } = outcome;
    const granted = token.scopes ?? this.#requested;
    if (granted.length === 0) throw this.#noScope();
    this.#granted = granted;
    this.#token = token;
    return token;
  }

  /** One request a scope, so at most as many as were requested, whichever are missing. */
  async #findGranted(refusal: IdpError): Promise<readonly string[]> {
    if (this.#requested.length < 2) throw this.#noScope(refusal);
    const granted: string[] = [];
    for (const scope of this.#requested) {
      const outcome = await this.#options.endpoint.request([scope]);
      if (outcome.state === "token") granted.push(scope);
    }
    if (granted.length === 0) throw this.#noScope(refusal);
    return granted;
  }

  #noScope(refusal?: IdpError): IdpError {
    const message = refusal?.message ?? `Cannot read ${this.#options.orgUrl}: the access token carries no scope`;
    return new IdpError("no_scope", message, this.#options.noScopeRemedy);
  }
}
