import * as oauth from "oauth4webapi";
import * as v from "valibot";
import { parseJsonObject } from "../../../../shared/json.ts";
import { keptDraft } from "../decisions/decision_index.ts";
import { SignInError, type Provider } from "./provider.ts";
import { describe, toTokenSet, type TokenSet } from "./tokens.ts";

/** Authorization code with PKCE, https://www.rfc-editor.org/rfc/rfc9700#section-2.1: by the whole page, or in a frame of it. */

const pendingSchema = v.object({
  state: v.string(),
  nonce: v.string(),
  verifier: v.string(),
  /** The fragment that was open. */
  returnTo: v.string(),
  /** Null: the person's first. */
  tenantId: v.nullable(v.string()),
  /** The form that was open, see `keptDraft`. */
  draft: v.string(),
});

/** A sign-in that is under way at the issuer: what the answer is checked against, and where to go on afterwards. */
export type PendingSignIn = Readonly<v.InferOutput<typeof pendingSchema>>;

/**
 * The only thing that is ever in storage, and only while this tab is at the issuer: the page is gone in the meantime, so memory
 * is not enough. Session storage belongs to one tab and ends with it; without the code that only this tab's address
 * receives, what is in it opens nothing. Tokens are never there.
 */
const storageKey = "scanstream.sign_in";

interface SignInRequest extends Pick<PendingSignIn, "returnTo" | "tenantId"> {
  /** `login`: also somebody who is signed in at the issuer is asked who they are. */
  readonly prompt?: "login";
}

/** Leaves the page for the issuer's. */
export async function beginSignIn(provider: Provider, { prompt, ...rest }: SignInRequest): Promise<void> {
  const secrets = newSecrets();
  const address = await toAddress(provider, secrets, prompt);
  const pending: PendingSignIn = { ...secrets, ...rest, draft: keptDraft.json };
  sessionStorage.setItem(storageKey, JSON.stringify(pending));
  location.assign(address);
}

/** Removes it: an answer is for one use. Null: this tab has begun no sign-in. */
export function takePending(): PendingSignIn | null {
  const text = sessionStorage.getItem(storageKey) ?? "";
  sessionStorage.removeItem(storageKey);
  const result = v.safeParse(pendingSchema, parseJsonObject(text));
  return result.success ? result.output : null;
}

/** Redeems what the issuer has sent the page back with. Rejects with `SignInError`. */
export async function finishSignIn(
  provider: Provider,
  query: URLSearchParams,
  pending: PendingSignIn | null,
): Promise<TokenSet> {
  if (pending === null) {
    throw new SignInError("sign_in", "This sign-in was not started in this tab, or is already finished: sign in again");
  }
  return redeem(provider, query, pending, null);
}

const frameTimeoutMs = 10_000;

/**
 * Asks the issuer in a hidden frame whether the person is still signed in there. Rejects with `SignInError`, also where the
 * browser keeps the issuer's cookies from a frame.
 */
export async function renewInFrame(provider: Provider, known: TokenSet, signal: AbortSignal): Promise<TokenSet> {
  const secrets = newSecrets();
  const address = await toAddress(provider, secrets, "none");
  const query = await readFrame(address, signal);
  return redeem(provider, query, secrets, known);
}

/** Rejects with `SignInError`; `sign_in` when the refresh token is of no use any more. */
export async function renewByRefreshToken(
  provider: Provider,
  known: TokenSet & { readonly refreshToken: string },
  signal: AbortSignal,
): Promise<TokenSet> {
  const { server, client, options } = describe(provider);
  try {
    const request = { ...options, signal };
    const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), known.refreshToken, request);
    return toTokenSet(await oauth.processRefreshTokenResponse(server, client, response), known);
  } catch (error) {
    throw explain(error, provider);
  }
}

/** Address that the issuer sends people back to; it is registered there, letter for letter. */
function callbackAddress(): string {
  return new URL("callback", document.baseURI).href;
}

type Secrets = Pick<PendingSignIn, "state" | "nonce" | "verifier">;

function newSecrets(): Secrets {
  return {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
  };
}

async function toAddress(provider: Provider, secrets: Secrets, prompt?: "login" | "none"): Promise<string> {
  const url = new URL(provider.endpoints.authorization_endpoint);
  const parameters = {
    client_id: provider.client_id,
    redirect_uri: callbackAddress(),
    response_type: "code",
    scope: provider.scopes,
    // Some issuers give a JWT only to those who name an audience; others do not read it.
    audience: provider.audience,
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(secrets.verifier),
    code_challenge_method: "S256",
    ...(prompt === undefined ? {} : { prompt }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

async function redeem(
  provider: Provider,
  query: URLSearchParams,
  { state, nonce, verifier }: Secrets,
  known: TokenSet | null,
): Promise<TokenSet> {
  const { server, client, options } = describe(provider);
  try {
    const parameters = oauth.validateAuthResponse(server, client, query, state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      parameters,
      callbackAddress(),
      verifier,
      options,
    );
    const expected = { expectedNonce: nonce, requireIdToken: true };
    return toTokenSet(await oauth.processAuthorizationCodeResponse(server, client, response, expected), known);
  } catch (error) {
    throw explain(error, provider);
  }
}

async function readFrame(address: string, signal: AbortSignal): Promise<URLSearchParams> {
  const frame = document.createElement("iframe");
  frame.hidden = true;
  frame.title = "Renews the sign-in";
  // It may run our page's script and nothing else; above all not take the whole tab elsewhere.
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin");
  const answered = Promise.withResolvers<URLSearchParams>();
  const onMessage = ({ source, origin, data }: MessageEvent<unknown>) => {
    if (source !== frame.contentWindow || origin !== location.origin) return;
    const search =
      typeof data === "object" && data !== null && "scanstreamSignIn" in data ? data.scanstreamSignIn : null;
    if (typeof search === "string") answered.resolve(new URLSearchParams(search));
  };
  const late = AbortSignal.any([signal, AbortSignal.timeout(frameTimeoutMs)]);
  const onLate = () => answered.reject(new SignInError("sign_in", "The issuer did not answer in a hidden frame"));
  addEventListener("message", onMessage);
  late.addEventListener("abort", onLate);
  frame.src = address;
  document.body.append(frame);
  try {
    return await answered.promise;
  } finally {
    removeEventListener("message", onMessage);
    late.removeEventListener("abort", onLate);
    frame.remove();
  }
}

const refusals: Readonly<Record<string, string>> = {
  access_denied: "The sign-in was cancelled, or the issuer does not let you use this application",
  login_required: "You are no longer signed in at the issuer",
  invalid_grant: "The issuer no longer accepts this sign-in",
};

function explain(error: unknown, { issuer }: Provider): SignInError {
  if (error instanceof SignInError) return error;
  const options = { cause: error };
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    const description = error.error_description === undefined ? "" : `: ${error.error_description}`;
    const words = refusals[error.error] ?? "The issuer refused the sign-in";
    const isPassing = error.error === "temporarily_unavailable" || error.error === "server_error";
    return new SignInError(isPassing ? "try_again" : "sign_in", `${words} (${error.error}${description})`, options);
  }
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError) {
    if (error.code === oauth.JWT_TIMESTAMP_CHECK) {
      const text =
        "The clock of this computer and the issuer's are more than five minutes apart: set it, then sign in again";
      return new SignInError("sign_in", text, options);
    }
    // The state, the issuer or the nonce is another one: somebody else's answer, or an old one.
    return new SignInError(
      "sign_in",
      `The issuer's answer does not belong to this sign-in (${error.message})`,
      options,
    );
  }
  return new SignInError("try_again", `The issuer ${issuer} cannot be reached`, options);
}
