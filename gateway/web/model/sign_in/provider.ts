import type { IssuerEndpoints, SignInOffer } from "../../../http/session_schema.ts";

/** An issuer at which people can sign in now. */
export type Provider = NonNullable<SignInOffer["provider"]> & { readonly endpoints: IssuerEndpoints };

/** Null: there is no issuer, or the gateway cannot reach it. */
export function reachableProvider({ provider }: SignInOffer): Provider | null {
  return provider?.endpoints ? { ...provider, endpoints: provider.endpoints } : null;
}

/** Why somebody is not signed in, for them. */
export class SignInError extends Error {
  /** `try_again`: nothing was decided; `sign_in`: the person has to do something. */
  readonly code: "try_again" | "sign_in";

  constructor(code: SignInError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SignInError";
    this.code = code;
  }
}
