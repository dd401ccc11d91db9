import { createHash, timingSafeEqual } from "node:crypto";
import { isForeign, isLoopbackHost } from "../http/local_only.ts";
import {
  epochSeconds,
  json,
  oauthError,
  type Header,
  type PracticeRequest,
  type PracticeResponse,
} from "../http/messages.ts";
import { answerAuthorize, answerLogin, answerLogout, type AuthorizeEndpoint } from "./authorize_endpoint.ts";
import { createGrants } from "./grants.ts";
import { messagePage } from "./login_page.ts";
import { knownScopes, type Person, type SignInOptions } from "./people.ts";
import { claimsOf, createUserTokens, type UserGrant } from "./user_tokens.ts";

/**
 * An OpenID provider as the provider's custom authorization servers are: it signs people in, and its access tokens are JWTs. Over `jose`:
 * `oidc-provider` would bring a web framework into the published command, and `oauth2-mock-server` refuses less than Okta does.
 */
export interface OpenIdProvider {
  /** Null: the path is not one of the provider's. */
  answer(request: PracticeRequest, nowMs: number): Promise<PracticeResponse> | null;
  /** An access token without any signing in, for a program on this machine. */
  issueAccessToken(person: Person, nowMs: number): Promise<string>;
}

/** Discovery is below it. */
export function issuerOf(orgUrl: string): string {
  return `${orgUrl}/oauth2/default`;
}

export async function createOpenIdProvider(issuer: string, options: SignInOptions): Promise<OpenIdProvider> {
  const { host: ownHost, pathname: issuerPath } = new URL(issuer);
  const tokens = await createUserTokens(issuer, options);
  const grants = createGrants();
  const authorize: AuthorizeEndpoint = { issuer, options, grants, waiting: new Map() };
  const origins = new Set(options.client.redirectUris.map((uri) => new URL(uri).origin));

  type Answer = (request: PracticeRequest, nowMs: number) => PracticeResponse | Promise<PracticeResponse>;
  const endpoints: Readonly<Record<string, Readonly<Record<string, Answer>>>> = {
    "/.well-known/openid-configuration": { GET: () => json(200, metadataOf(issuer)) },
    "/.well-known/oauth-authorization-server": { GET: () => json(200, metadataOf(issuer)) },
    "/v1/keys": { GET: () => json(200, { keys: [tokens.publicJwk] }) },
    "/v1/authorize": { GET: (request, nowMs) => answerAuthorize(authorize, request, nowMs) },
    "/v1/login": {
      POST: (request, nowMs) =>
        isForeign(request)
          ? messagePage(403, "Not signed in", "Only for pages of this org.")
          : answerLogin(authorize, request, nowMs),
    },
    "/v1/logout": { GET: (request) => answerLogout(authorize, request, (token) => tokens.read(token)) },
    "/v1/token": { POST: answerToken },
    "/v1/userinfo": { GET: answerUserInfo, POST: answerUserInfo },
  };

  return {
    answer(request, nowMs) {
      if (!request.path.startsWith(`${issuerPath}/`)) return null;
      const methods = endpoints[request.path.slice(issuerPath.length)];
      if (methods === undefined) return null;
      // A page of another site can reach this port under its own name; it has another host then.
      const host = request.headers.get("host") ?? "";
      if (!isLoopbackHost(host) && host !== ownHost)
        return Promise.resolve(json(403, { error: "Only for this machine" }));
      return respond(request, nowMs, methods);
    },
    issueAccessToken: (person, nowMs) =>
      tokens.issueAccessToken({ person, scopes: ["openid", "profile"] }, epochSeconds(nowMs)),
  };

  async function respond(
    request: PracticeRequest,
    nowMs: number,
    methods: Readonly<Record<string, Answer>>,
  ): Promise<PracticeResponse> {
    const cors = corsHeaders(request.headers.get("origin"));
    if (request.method === "OPTIONS") return { status: 204, headers: cors, body: "" };
    const answer = methods[request.method];
    if (answer === undefined) {
      return json(405, { error: "method_not_allowed" }, [["allow", Object.keys(methods).join(", ")]]);
    }
    const response = await answer(request, nowMs);
    const ours: readonly Header[] = [["cache-control", "no-store"], ...cors];
    return { ...response, headers: [...response.headers, ...ours] };
  }

  /** For the pages of registered applications, and no other. */
  function corsHeaders(origin: string | undefined): readonly Header[] {
    if (origin === undefined || !origins.has(origin)) return [["vary", "Origin"]];
    return [
      ["vary", "Origin"],
      ["access-control-allow-origin", origin],
      ["access-control-allow-methods", "GET, POST"],
      ["access-control-allow-headers", "authorization, content-type"],
    ];
  }

  async function answerToken(request: PracticeRequest, nowMs: number): Promise<PracticeResponse> {
    if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers.get("content-type") ?? "")) {
      return oauthError(400, "invalid_request", "The request must be sent as application/x-www-form-urlencoded.");
    }
    const form = new URLSearchParams(request.body);
    const repeated = [...form.keys()].find((name, index, names) => names.indexOf(name) !== index);
    if (repeated !== undefined) {
      return oauthError(400, "invalid_request", `The parameter '${repeated.slice(0, 50)}' is given more than once.`);
    }
    if (form.get("client_id") !== options.client.clientId) {
      return oauthError(401, "invalid_client", "Invalid value for 'client_id' parameter.");
    }
    const grantType = form.get("grant_type");
    if (grantType === "authorization_code") return redeemCode(form, nowMs);
    if (grantType === "refresh_token") return refresh(form, nowMs);
    const text = "The authorization grant type is not supported by the authorization server.";
    return oauthError(400, "unsupported_grant_type", text);
  }

  async function redeemCode(form: URLSearchParams, nowMs: number): Promise<PracticeResponse> {
    const code = form.get("code") ?? "";
    const grant = grants.redeemCode(code, nowMs);
    if (grant === null || grant.redirectUri !== form.get("redirect_uri")) {
      return oauthError(400, "invalid_grant", "The authorization code is invalid or has expired.");
    }
    if (!isVerifier(form.get("code_verifier") ?? "", grant.codeChallenge)) {
      return oauthError(400, "invalid_grant", "PKCE verification failed.");
    }
    const refreshToken = grant.scopes.includes("offline_access") ? grants.issueRefreshToken(grant, nowMs, code) : null;
    return answerTokens(grant, refreshToken, nowMs);
  }

  async function refresh(form: URLSearchParams, nowMs: number): Promise<PracticeResponse> {
    const rotated = grants.rotate(form.get("refresh_token") ?? "", nowMs);
    if (rotated === null) return oauthError(400, "invalid_grant", "The refresh token is invalid or expired.");
    // https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokenResponse: without the nonce of the request.
    return answerTokens({ ...rotated.grant, nonce: null }, rotated.refreshToken, nowMs);
  }

  async function answerTokens(grant: UserGrant, refreshToken: string | null, nowMs: number): Promise<PracticeResponse> {
    const now = epochSeconds(nowMs);
    const accessToken = await tokens.issueAccessToken(grant, now);
    return json(200, {
      token_type: "Bearer",
      expires_in: tokens.lifetimeSeconds,
      access_token: accessToken,
      scope: grant.scopes.join(" "),
      ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
      id_token: await tokens.issueIdToken(grant, accessToken, now),
    });
  }

  async function answerUserInfo(request: PracticeRequest, nowMs: number): Promise<PracticeResponse> {
    const [, token = ""] = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    const claims = await tokens.read(token);
    const person = options.people.find(({ login }) => login === claims?.["sub"]);
    const isGood = claims?.["aud"] === options.audience && Number(claims["exp"]) > epochSeconds(nowMs);
    if (!isGood || person === undefined) {
      const challenge = 'Bearer error="invalid_token", error_description="The access token is invalid."';
      return { status: 401, headers: [["www-authenticate", challenge]], body: "" };
    }
    const scopes = Array.isArray(claims["scp"]) ? claims["scp"].map(String) : [];
    return json(200, { sub: person.login, ...claimsOf(person, scopes) });
  }
}

function isVerifier(verifier: string, challenge: string): boolean {
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return false;
  const computed = createHash("sha256").update(verifier).digest();
  const wanted = Buffer.from(challenge, "base64url");
  return wanted.length === computed.length && timingSafeEqual(computed, wanted);
}

function metadataOf(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/v1/authorize`,
    token_endpoint: `${issuer}/v1/token`,
    userinfo_endpoint: `${issuer}/v1/userinfo`,
    jwks_uri: `${issuer}/v1/keys`,
    end_session_endpoint: `${issuer}/v1/logout`,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    token_endpoint_auth_methods_supported: ["none"],
    scopes_supported: knownScopes,
    prompt_values_supported: ["none", "login"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
  };
}
