import { fetchJson, toRecord, toText } from "../api.ts";

/** Where people sign in here, as the gateway says it. */
export interface Provider {
  readonly issuer: string;
  readonly clientId: string;
  readonly scopes: string;
  /** What the gateway expects in an access token. */
  readonly audience: string;
  readonly tenantClaim: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** Null: the issuer ends its own session by itself only. */
  readonly endSessionEndpoint: string | null;
  readonly namesItselfInAnswers: boolean;
}

/** What a person can do to get in. */
export interface SignInOffer {
  readonly isDemo: boolean;
  readonly provider: Provider | null;
  /** An issuer that the gateway cannot reach; null: it can, or none exists. */
  readonly unreachableIssuer: string | null;
}

const timeoutMs = 15_000;

/** Rejects with `ApiError`. */
export async function fetchOffer(signal: AbortSignal): Promise<SignInOffer> {
  const answer = toRecord(await fetchJson("sign-in", {}, { signal, timeoutMs }));
  const isDemo = answer["is_demo"] === true;
  const provider = toRecord(answer["provider"]);
  const endpoints = toRecord(provider["endpoints"]);
  const issuer = toText(provider["issuer"]);
  if (issuer === null) return { isDemo, provider: null, unreachableIssuer: null };
  const authorizationEndpoint = toText(endpoints["authorization_endpoint"]);
  const tokenEndpoint = toText(endpoints["token_endpoint"]);
  if (authorizationEndpoint === null || tokenEndpoint === null) {
    return { isDemo, provider: null, unreachableIssuer: issuer };
  }
  return {
    isDemo,
    unreachableIssuer: null,
    provider: {
      issuer,
      clientId: toText(provider["client_id"]) ?? "",
      scopes: toText(provider["scopes"]) ?? "",
      audience: toText(provider["audience"]) ?? "",
      tenantClaim: toText(provider["tenant_claim"]) ?? "",
      authorizationEndpoint,
      tokenEndpoint,
      endSessionEndpoint: toText(endpoints["end_session_endpoint"]),
      namesItselfInAnswers: endpoints["authorization_response_iss_parameter_supported"] === true,
    },
  };
}
