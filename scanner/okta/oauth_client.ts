import {
  allowInsecureRequests,
  clientCredentialsGrantRequest,
  customFetch,
  DPoP,
  generateKeyPair,
  modifyAssertion,
  PrivateKeyJwt,
  protectedResourceRequest,
  type Client,
  type CustomFetchOptions,
  type DPoPHandle,
} from "oauth4webapi";
import type { ProviderClock } from "./clock.ts";
import { allowedUrl, tokenPath } from "./http_transport.ts";
import type { SigningKey } from "./private_key.ts";
import type { ReceivedResponse, SendOnce } from "./request_sender.ts";

export interface AccessToken {
  readonly value: string;
  readonly type: "Bearer" | "DPoP";
  /** The scopes it carries, as the provider writes them; null when neither the response nor the token names them. */
  readonly scopes: readonly string[] | null;
  /** By this machine's clock. */
  readonly renewAtMs: number;
}

/** The service application's requests. Each call sends one, with an assertion or a proof that is good for one use. */
export interface OAuthClient {
  /** Client credentials with a private-key JWT (RFC 7523) and, unless it is turned off, a DPoP proof (RFC 9449). */
  requestToken(send: SendOnce, options: TokenRequestOptions): Promise<ReceivedResponse>;
  /** A GET below the API with an access token. Throws `ForbiddenRequest` for a path that must not be sent. */
  get(send: SendOnce, path: string, token: AccessToken): Promise<ReceivedResponse>;
}

export interface TokenRequestOptions {
  readonly scopes: readonly string[];
  readonly hasProof: boolean;
}

export interface OAuthClientOptions {
  readonly orgUrl: string;
  readonly clientId: string;
  readonly key: SigningKey;
  readonly clock: ProviderClock;
}

/** Before the present, so that a clock which is a little fast is not "issued before the current time". */
const backdatedSeconds = 30;
/** Survives a clock that is over four minutes slow. */
const lifetimeSeconds = 300;

export async function createOAuthClient({ orgUrl, clientId, key, clock }: OAuthClientOptions): Promise<OAuthClient> {
  const tokenUrl = orgUrl + tokenPath;
  const server = { issuer: orgUrl, token_endpoint: tokenUrl };
  const client: Client = { client_id: clientId };
  const authentication = PrivateKeyJwt(
    { key: await toCryptoKey(key), ...(key.kid === null ? {} : { kid: key.kid }) },
    {
      [modifyAssertion](header, claims) {
        const iat = clock.nowSeconds() - backdatedSeconds;
        header["typ"] = "JWT";
        Object.assign(claims, { aud: tokenUrl, iat, nbf: iat, exp: iat + lifetimeSeconds });
      },
    },
  );
  // Lives as long as this scan and never leaves it.
  const proofKeys = await generateKeyPair("ES256");
  const createProver = () =>
    DPoP(client, proofKeys, {
      [modifyAssertion]: (_header, claims) => void (claims["iat"] = clock.nowSeconds()),
    });
  // The library keeps one nonce an origin; the token endpoint and the API have each their own.
  const tokenProver = createProver();
  const resourceProver = createProver();

  return {
    requestToken: (send, { scopes, hasProof }) =>
      sendBy(send, (options) =>
        clientCredentialsGrantRequest(
          server,
          client,
          authentication,
          { scope: scopes.join(" ") },
          { ...options, ...(hasProof ? { DPoP: tokenProver } : {}) },
        ),
      ),
    get(send, path, token) {
      const url = allowedUrl({ method: "GET", path }, orgUrl);
      return sendBy(send, (options) =>
        protectedResourceRequest(token.value, "GET", url, undefined, undefined, {
          ...options,
          ...(token.type === "DPoP" ? { DPoP: resourceProver } : {}),
        }),
      );
    },
  };
}

interface RequestOptions {
  readonly [allowInsecureRequests]: true;
  readonly [customFetch]: (
    url: string,
    request: Pick<CustomFetchOptions<string, unknown>, "headers" | "body">,
  ) => Promise<Response>;
  readonly DPoP?: DPoPHandle;
}

/**
 * Sends what the library prepared. The library sees only the nonce of the response: its own parsers give up on the refusals
 * that our remedies tell apart, and know no bound nor cleaning of text, so `token_endpoint.ts` reads the rest.
 */
async function sendBy(send: SendOnce, call: (options: RequestOptions) => Promise<Response>): Promise<ReceivedResponse> {
  const received = Promise.withResolvers<ReceivedResponse>();
  await call({
    // `http://` is configured for loopback only (`IDP_ORG_URL`).
    [allowInsecureRequests]: true,
    async [customFetch](_url, { headers, body }) {
      const response = await send({ headers, ...(body instanceof URLSearchParams ? { form: body } : {}) });
      received.resolve(response);
      const nonce = response.headers.get("dpop-nonce");
      return new Response(null, nonce === null ? {} : { headers: { "dpop-nonce": nonce } });
    },
  });
  return received.promise;
}

const curves = { ES256: "P-256", ES384: "P-384", ES512: "P-521" } as const;

function toCryptoKey({ key, alg }: SigningKey): Promise<CryptoKey> {
  const algorithm =
    alg === "ES256" || alg === "ES384" || alg === "ES512"
      ? { name: "ECDSA", namedCurve: curves[alg] }
      : { name: "RSASSA-PKCS1-v1_5", hash: `SHA-${alg.slice(2)}` };
  return crypto.subtle.importKey("pkcs8", key.export({ format: "der", type: "pkcs8" }), algorithm, false, ["sign"]);
}
