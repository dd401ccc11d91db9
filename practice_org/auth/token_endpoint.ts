import { authenticateClient, type RegisteredClient } from "./client_assertion.ts";
import { verifyProof, type ReplayGuard } from "./dpop_proof.ts";
import { epochSeconds, json, oauthError, type PracticeRequest, type PracticeResponse } from "../http/messages.ts";
import type { AccessTokens } from "./access_tokens.ts";

export const tokenPath = "/oauth2/v1/token";
const tokenLifetimeSeconds = 3600;

export interface TokenEndpoint {
  /** Address of the org. */
  readonly url: string;
  /** Returns the clients that are registered now. */
  readonly clients: () => readonly RegisteredClient[];
  /** `off` is the console's switch "Require Demonstrating Proof of Possession" turned off: proofs are ignored. */
  readonly app: { readonly dpop: "required" | "off" };
  readonly tokens: AccessTokens;
  /** One for a run of the org. */
  readonly nonce: string;
  readonly assertionReplays: ReplayGuard;
  readonly proofReplays: ReplayGuard;
}

export async function answerTokenRequest(
  endpoint: TokenEndpoint,
  request: PracticeRequest,
  nowMs: number,
): Promise<PracticeResponse> {
  const now = epochSeconds(nowMs);
  const audience = `${endpoint.url}${tokenPath}`;
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers.get("content-type") ?? "")) {
    return oauthError(400, "invalid_request", "The request must be sent as application/x-www-form-urlencoded.");
  }
  // The provider's Go SDK v4 sends them in the address, as its Terraform provider does for log streams and sign-in pages.
  const form = new URLSearchParams([...new URLSearchParams(request.body), ...request.query]);
  const grantType = form.get("grant_type");
  if (grantType === null) return oauthError(400, "invalid_request", "The token request must specify a 'grant_type'.");
  if (grantType !== "client_credentials") {
    return oauthError(
      400,
      "unsupported_grant_type",
      "The authorization grant type is not supported by the authorization server.",
    );
  }
  const client = await authenticateClient(form, endpoint.clients(), {
    audience,
    nowSeconds: now,
    replays: endpoint.assertionReplays,
  });
  if (typeof client === "string") return oauthError(401, "invalid_client", client);

  const binding = await bind(endpoint, request, now);
  if ("refusal" in binding) return binding.refusal;

  const scopes = grantScopes(client, form.get("scope") ?? "");
  if ("refusal" in scopes) return scopes.refusal;
  const token = endpoint.tokens.issue(
    { clientId: client.clientId, scopes: scopes.granted, thumbprint: binding.thumbprint },
    now,
    tokenLifetimeSeconds,
  );
  return json(
    200,
    {
      token_type: binding.thumbprint === null ? "Bearer" : "DPoP",
      expires_in: tokenLifetimeSeconds,
      access_token: token,
      scope: scopes.granted.join(" "),
    },
    binding.thumbprint === null ? [] : [["dpop-nonce", endpoint.nonce]],
  );
}

type Binding = { readonly thumbprint: string | null } | { readonly refusal: PracticeResponse };

async function bind(endpoint: TokenEndpoint, request: PracticeRequest, now: number): Promise<Binding> {
  if (endpoint.app.dpop === "off") return { thumbprint: null };
  const proof = await verifyProof(request.headers.get("dpop"), {
    method: "POST",
    url: `${endpoint.url}${tokenPath}`,
    nowSeconds: now,
    replays: endpoint.proofReplays,
  });
  if (!proof.isValid) return { refusal: oauthError(400, "invalid_dpop_proof", proof.description) };
  if (proof.nonce !== endpoint.nonce) {
    const headers = [["dpop-nonce", endpoint.nonce]] as const;
    return {
      refusal: oauthError(400, "use_dpop_nonce", "Authorization server requires nonce in DPoP proof.", headers),
    };
  }
  return { thumbprint: proof.thumbprint };
}

type Grant = { readonly granted: readonly string[] } | { readonly refusal: PracticeResponse };

function grantScopes({ grantedScopes }: RegisteredClient, text: string): Grant {
  const requested = [...new Set(text.split(" ").filter((scope) => scope !== ""))];
  if (requested.length === 0) {
    return refuseScope(
      "The authorization server resource does not have any configured default scopes, 'scope' must be provided.",
    );
  }
  if (requested.every((scope) => grantedScopes.has(scope))) return { granted: requested };
  return refuseScope("One or more scopes are not configured for the authorization server resource.");
}

function refuseScope(description: string): Grant {
  return { refusal: oauthError(400, "invalid_scope", description) };
}
