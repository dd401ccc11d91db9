/** Somebody who can sign in at the practice org. */
export interface Person {
  /** The `sub` of tokens. */
  readonly login: string;
  readonly name: string;
  readonly password: string;
  /** One: the claim is a text. Several: an array. None: the token has no such claim. */
  readonly tenantIds: readonly string[];
}

/** The application that people sign in to: a public client, as a page in a browser is one. */
export interface SignInClient {
  readonly clientId: string;
  /** Compared as they are, character for character. */
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
}

export interface SignInOptions {
  readonly people: readonly Person[];
  readonly client: SignInClient;
  /** For access tokens. */
  readonly audience: string;
  /** The claim that names a person's tenants. */
  readonly tenantClaim: string;
  /** Default 300. */
  readonly tokenLifetimeSeconds?: number;
}

/** Scopes that are granted; others are left out of the token, as RFC 6749 section 3.3 allows. */
export const knownScopes: readonly string[] = ["openid", "profile", "email", "offline_access"];
