import { idpError, type IdpError, type IdpProblem } from "./idp_error.ts";
import { objectIn, parseBody } from "./json_answer.ts";
import { toSafeText } from "./safe_text.ts";
import { tokenPath, type HttpResponse } from "./http_transport.ts";

/** How the provider describes a client that is right but whose clock is wrong. */
export const clockRefusal =
  /expir|too far into the future|issued (before|in the future|after)|not yet valid|\biat\b|\bexp\b|\bnbf\b/i;

/** `error` and `error_description` of a refused token request; empty where there are none. */
export function oauthError(response: HttpResponse): { readonly error: string; readonly description: string } {
  const { error, error_description: description } = objectIn(response.body);
  return { error: toSafeText(error, 80), description: toSafeText(description) };
}

/** Meanings of a refusal, by its `error` and its description: the first row that fits counts. */
const refusals: readonly (readonly [error: string, description: RegExp, IdpProblem])[] = [
  ["invalid_client", clockRefusal, "clock"],
  ["invalid_client", /audience/i, "audience"],
  ["invalid_client", /\bkid\b/i, "inactive_key"],
  ["invalid_client", /signature|private_key_jwt|client_assertion.*invalid|jwks|public key/i, "other_key"],
  ["invalid_client", /^/, "client"],
  ["unauthorized_client", /^/, "client_type"],
  ["unsupported_grant_type", /^/, "client_type"],
  ["invalid_scope", /^/, "scopes"],
  ["access_denied", /^/, "zone"],
  ["invalid_dpop_proof", /^/, "dpop"],
  ["use_dpop_nonce", /^/, "dpop"],
];

/** The error of a refused token request, for the administrator who set the service application up. */
export function tokenRefusal(response: HttpResponse, orgUrl: string): IdpError {
  const { status } = response;
  const { error, description } = oauthError(response);
  const reason = description === "" ? error : `${error}, "${description}"`;
  const answer = `the token endpoint answered ${status} ${reason}`.trimEnd();
  const refusal = (problem: IdpProblem, what = answer) => idpError(problem, `Cannot log in to ${orgUrl}: ${what}`);
  const row = refusals.find(([name, pattern]) => name === error && pattern.test(description));
  if (row !== undefined) return refusal(row[2]);
  if (status >= 300 && status < 400) return refusal("org_url", `${tokenPath} redirects${redirectTarget(response)}`);
  const code = toSafeText(objectIn(response.body)["errorCode"], 20);
  const isPage = parseBody(response.body).kind === "html";
  if (status === 404 || status === 405 || (isPage && status < 500 && status !== 429 && status !== 403)) {
    const what = isPage ? "a web page" : `${status} ${code}`.trimEnd();
    return refusal("org_url", `${tokenPath} answered ${what}, so this is not an identity provider's organization`);
  }
  const problem = status === 403 ? "zone" : status === 429 ? "rate_limit" : "outage";
  return refusal(problem, `${answer} ${code}`.trimEnd());
}

/** The origin only: the rest of a redirect may hold more than should be shown. */
export function redirectTarget(response: HttpResponse): string {
  const location = response.headers.get("location") ?? "";
  return URL.canParse(location) ? ` to ${new URL(location).origin}` : "";
}
