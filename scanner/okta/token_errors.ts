import { remedies } from "./console_places.ts";
import { IdpError, type IdpErrorCode } from "./idp_error.ts";
import { objectIn, parseBody } from "./json_answer.ts";
import { toSafeText } from "./safe_text.ts";
import { tokenPath, type HttpResponse } from "./http_transport.ts";

/** How the provider describes a client that is right but whose clock is wrong. */
const clockRefusal =
  /expir|too far into the future|issued (before|in the future|after)|not yet valid|\biat\b|\bexp\b|\bnbf\b/i;

/** `error` and `error_description` of a refused token request; empty where there are none. */
export function oauthError(response: HttpResponse): { readonly error: string; readonly description: string } {
  const { error, error_description: description } = objectIn(response.body);
  return { error: toSafeText(error, 80), description: toSafeText(description) };
}

/** True for a refusal that a corrected clock may turn into a token. */
export function isClockRefusal(response: HttpResponse): boolean {
  const { error, description } = oauthError(response);
  return (error === "invalid_client" || error === "invalid_dpop_proof") && clockRefusal.test(description);
}

/** Meanings of a refusal, by its `error` and its description: the first row that fits counts. */
const refusals: readonly (readonly [error: string, description: RegExp, code: IdpErrorCode, remedy: string])[] = [
  ["invalid_client", clockRefusal, "clock_skew", remedies.clock],
  ["invalid_client", /audience/i, "wrong_org", remedies.ownAddress],
  ["invalid_client", /\bkid\b/i, "bad_key", remedies.activeKey],
  [
    "invalid_client",
    /signature|private_key_jwt|client_assertion.*invalid|jwks|public key/i,
    "bad_key",
    remedies.matchingKey,
  ],
  ["invalid_client", /^/, "wrong_client", remedies.client],
  ["unauthorized_client", /^/, "wrong_client", remedies.clientType],
  ["unsupported_grant_type", /^/, "wrong_client", remedies.clientType],
  ["invalid_scope", /^/, "no_scope", remedies.scopes],
  ["access_denied", /^/, "access_denied", remedies.network],
  ["invalid_dpop_proof", /^/, "dpop_refused", remedies.dpopHeaders],
  ["use_dpop_nonce", /^/, "dpop_refused", remedies.dpopHeaders],
];

/** The error of a refused token request, for the administrator who set the service application up. */
export function tokenRefusal(response: HttpResponse, orgUrl: string): IdpError {
  const { error, description } = oauthError(response);
  const reason = description === "" ? error : `${error}, "${description}"`;
  const message = `Cannot log in to ${orgUrl}: the token endpoint answered ${response.status} ${reason}`.trimEnd();
  const row = refusals.find(([name, pattern]) => name === error && pattern.test(description));
  return row === undefined ? otherRefusal(response, { orgUrl, message }) : new IdpError(row[2], message, row[3]);
}

/** A login that succeeded, but whose response holds no token. */
export function unreadableToken(orgUrl: string): IdpError {
  return new IdpError(
    "provider_error",
    `Cannot log in to ${orgUrl}: the token endpoint's answer holds no usable token`,
    remedies.orgUrl,
  );
}

function otherRefusal(
  response: HttpResponse,
  context: { readonly orgUrl: string; readonly message: string },
): IdpError {
  const { status } = response;
  if (status >= 300 && status < 400) {
    return new IdpError(
      "wrong_org",
      `Cannot log in to ${context.orgUrl}: ${tokenPath} redirects${redirectTarget(response)}`,
      remedies.orgUrl,
    );
  }
  const code = toSafeText(objectIn(response.body)["errorCode"], 20);
  const body = parseBody(response.body).kind;
  if (status === 404 || (status < 500 && status !== 429 && status !== 403 && body === "html") || status === 405) {
    const what = body === "html" ? "a web page" : `${status} ${code}`.trimEnd();
    return new IdpError(
      "wrong_org",
      `Cannot log in to ${context.orgUrl}: ${tokenPath} answered ${what}, so this is not an identity provider's organization`,
      remedies.orgUrl,
    );
  }
  if (status === 403) {
    return new IdpError("access_denied", `${context.message.trimEnd()} ${code}`.trimEnd(), remedies.network);
  }
  const remedy = status === 429 ? remedies.tokenRateLimit : remedies.providerProblem;
  return new IdpError("provider_error", `${context.message} ${code}`.trimEnd(), remedy);
}

/** The origin only: the rest of a redirect may hold more than should be shown. */
export function redirectTarget(response: HttpResponse): string {
  const location = response.headers.get("location") ?? "";
  return URL.canParse(location) ? ` to ${new URL(location).origin}` : "";
}
