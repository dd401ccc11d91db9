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
import { allowedUrl, tokenPath } from "./http_transport.ts";
import type { SigningKey } from "./private_key.ts";
import type { ReceivedResponse } from "./http_transport.ts";
import type { SendOnce } from "./request_sender.ts";

export interface SentToken {
  readonly value: string;
  readonly type: "Bearer" | "DPoP";
}

export interface Signer {
  readonly orgUrl: string;
  readonly clientId: string;
  readonly key: SigningKey;
}

/** Before the present, so that a clock which is a little fast is not "issued before the current time". */
const backdatedSeconds = 30;
/** Survives a clock that is over four minutes slow. */
const assertionSeconds = 300;

/** Each call sends one request, with an assertion or a proof that is good for one use. */
export type SignedRequests = Awaited<ReturnType<typeof createSignedRequests>>;

export async function createSignedRequests({ orgUrl, clientId, key }: Signer, nowSeconds: () => number) {
  const tokenUrl = orgUrl + tokenPath;
  const client: Client = { client_id: clientId };
  const authentication = PrivateKeyJwt(
    { key: await toCryptoKey(key), ...(key.kid === null ? {} : { kid: key.kid }) },
    {
      [modifyAssertion](header, claims) {
        const iat = nowSeconds() - backdatedSeconds;
        header["typ"] = "JWT";
        Object.assign(claims, { aud: tokenUrl, iat, nbf: iat, exp: iat + assertionSeconds });
      },
    },
  );
  // They live as long as this scan and never leave it.
  const proofKeys = await generateKeyPair("ES256");
  const createProver = () =>
    DPoP(client, proofKeys, { [modifyAssertion]: (_header, claims) => void (claims["iat"] = nowSeconds()) });
  // The library keeps one nonce an origin; the token endpoint and the API have each their own.
  const [tokenProver, resourceProver] = [createProver(), createProver()];
  return {
    requestToken: (send: SendOnce, scopes: readonly string[], hasProof: boolean) =>
      sendBy(send, hasProof ? tokenProver : null, (options) => {
        const server = { issuer: orgUrl, token_endpoint: tokenUrl };
        return clientCredentialsGrantRequest(server, client, authentication, { scope: scopes.join(" ") }, options);
      }),
    get(send: SendOnce, path: string, { value, type }: SentToken) {
      const url = allowedUrl({ method: "GET", path }, orgUrl);
      return sendBy(send, type === "DPoP" ? resourceProver : null, (options) =>
        protectedResourceRequest(value, "GET", url, undefined, undefined, options),
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
 * that our remedies tell apart, and know no bound nor cleaning of text, so `login.ts` reads the rest.
 */
async function sendBy(
  send: SendOnce,
  prover: DPoPHandle | null,
  call: (options: RequestOptions) => Promise<Response>,
): Promise<ReceivedResponse> {
  const received = Promise.withResolvers<ReceivedResponse>();
  await call({
    ...(prover === null ? {} : { DPoP: prover }),
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
