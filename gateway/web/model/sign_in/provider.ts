import * as v from "valibot";
import { openRest } from "../api.ts";

const endpointsSchema = v.object({
  authorization_endpoint: v.string(),
  token_endpoint: v.string(),
  /** Null: the issuer ends its own session by itself only. */
  end_session_endpoint: v.nullable(v.string()),
  authorization_response_iss_parameter_supported: v.boolean(),
});

const providerSchema = v.object({
  issuer: v.string(),
  client_id: v.string(),
  scopes: v.string(),
  /** The gateway expects it in an access token. */
  audience: v.string(),
  tenant_claim: v.string(),
  /** Null: the gateway cannot reach the issuer. */
  endpoints: v.nullable(endpointsSchema),
});

const offerSchema = v.object({ is_demo: v.boolean(), provider: v.nullable(providerSchema) });

/** The ways in, as the gateway offers them. */
export type SignInOffer = v.InferOutput<typeof offerSchema>;

/** An issuer at which people can sign in now. */
export interface Provider extends v.InferOutput<typeof providerSchema> {
  readonly endpoints: v.InferOutput<typeof endpointsSchema>;
}

/** Null: there is no issuer, or the gateway cannot reach it. */
export function reachableProvider({ provider }: SignInOffer): Provider | null {
  return provider?.endpoints ? { ...provider, endpoints: provider.endpoints } : null;
}

/** Rejects as `RestClient` does. */
export function fetchOffer(): Promise<SignInOffer> {
  return openRest().get("sign-in", offerSchema);
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
