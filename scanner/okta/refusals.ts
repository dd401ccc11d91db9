import type { MissingEvidence } from "../evidence/artifacts.ts";
import { ForbiddenRequest, tokenPath, type HttpResponse } from "./http_transport.ts";
import type { Refusal } from "./idp_client.ts";
import { IdpError, type IdpProblem } from "./idp_error.ts";
import { NetworkError } from "./network_error.ts";
import { toSafeText, toShownPath } from "./provider_text.ts";

/** A read that gave nothing: the evidence, and the refusal that a collector may branch on. */
export interface Missing extends MissingEvidence<never> {
  readonly refusal: Refusal;
}

/** Classifies how the provider refuses a read (E6). `scope` is the full name of the scope it needs. */
export function toMissing(response: HttpResponse, path: string, scope: string): Missing {
  const { status, body } = response;
  const code = body.object["errorCode"];
  const errorCode = typeof code === "string" ? toSafeText(code, 20) : null;
  // Something in between refuses with a page: its 404 is not the absence of an object, nor its 400 a bad query.
  const isPage = status >= 400 && status < 429 && body.kind === "html";
  const missing = (reason: Missing["reason"], problem: string) =>
    of(reason, path, ` answered ${status}${errorCode === null ? "" : ` ${errorCode}`}${problem}`, {
      httpStatus: isPage ? 403 : status,
      errorCode,
    });
  // In a header only; the body is empty.
  const challenge = response.headers.get("www-authenticate") ?? "";
  if (status === 403 && /\berror\s*=\s*"?insufficient_scope\b/i.test(challenge))
    return missing("missing_scope", notGranted(requiredScopes(challenge) ?? scope));
  if (status === 403 && errorCode === "E0000006") {
    const problem =
      "the service app's admin role may not read this; scanstream explain names the role that a rule needs";
    return missing("missing_role", `: ${problem}`);
  }
  if (status === 401 && errorCode === "E0000015") {
    const problem = "the feature is not enabled for this organization, so it cannot be examined here";
    return missing("not_available", `: ${problem}`);
  }
  const summary = toSafeText(body.object["errorSummary"]);
  return missing("provider_error", `${summary === "" ? "" : ` ("${summary}")`}: ${explain(response)}`);
}

/** Nothing was sent, because the token does not carry the scope. */
export function notRequested(path: string, scope: string): Missing {
  return of("missing_scope", path, ` was not asked for${notGranted(scope)}`);
}

/** An answer of 200 that is not evidence. */
export function notUsable(path: string, problem: string): Missing {
  return of("provider_error", path, ` answered 200${problem}`, { httpStatus: 200, errorCode: null });
}

/** The same, of an answer that this version does not understand. */
export function notUnderstood(path: string, problem: string): Missing {
  return { ...notUsable(path, `, but its body ${problem}, so it is not understood`), reason: "unreadable" };
}

/** There was no response. Throws again what is not the provider's doing: an abort, and bugs. */
export function unanswered(path: string, error: unknown): Missing {
  if (error instanceof NetworkError)
    return of("provider_error", path, ` got no answer: ${error.message}; scan again later`);
  if (error instanceof ForbiddenRequest) return of("unreadable", path, `: ${error.message}`);
  if (!(error instanceof IdpError)) throw error;
  const problem = " was not asked for, because the access token could not be renewed";
  return of("provider_error", path, `${problem}: ${error.message}`);
}

/** Without a refusal: there was no response. */
function of(
  reason: Missing["reason"],
  path: string,
  problem: string,
  refusal: Refusal = { httpStatus: null, errorCode: null },
): Missing {
  return { state: "missing", reason, detail: `GET ${toShownPath(path)}${problem}`, partial: null, refusal };
}

function notGranted(scope: string): string {
  const remedy = "grant it in Applications → your app → Okta API Scopes and scan again";
  return `: the scope ${scope} is not granted; ${remedy}`;
}

/** The scopes that the provider's challenge asks for, which win over what this program believes; null where it names none. */
function requiredScopes(challenge: string): string | null {
  const text = /\bscope\s*=\s*"([^"]{1,200})"/i.exec(challenge)?.[1] ?? "";
  const names = text.split(/\s+/).filter((name) => /^[a-z]+(\.[A-Za-z]+)+$/.test(name));
  return names.length === 0 ? null : names.join(", ");
}

function explain(response: HttpResponse): string {
  const { status, body } = response;
  if (status === 429) return "its rate limit stayed used up; scan again later, or with a lower --concurrency";
  if (status >= 500) return "the provider has its own problem; scan again later";
  if (status >= 300 && status < 400)
    return `a redirect${redirectTarget(response)} is never followed; check the organization's address`;
  if (asksForNonce(response)) return "it asks for another DPoP nonce each time; scan again later";
  if (status === 401) return "it did not take the access token, not even a new one";
  if (body.kind === "html")
    return "something between here and the provider refuses; check network zones, proxies and firewalls";
  if (status === 404) return "it was deleted since it was listed, or this organization does not have it; scan again";
  return "this answer was not expected; scan again, and report it if it stays";
}

/** How the provider describes a client that is right but whose clock is wrong. */
export const clockRefusal =
  /expir|too far into the future|issued (before|in the future|after)|not yet valid|\biat\b|\bexp\b|\bnbf\b/i;

/** `error` and `error_description` of a refused token request; empty where there are none. */
export function oauthError({ body }: HttpResponse): { readonly error: string; readonly description: string } {
  const { error, error_description: description } = body.object;
  return { error: toSafeText(error, 80), description: toSafeText(description) };
}

export function asksForNonce(response: HttpResponse): boolean {
  if (response.status !== 401 && response.status !== 400) return false;
  const challenge = response.headers.get("www-authenticate") ?? "";
  return /use_dpop_nonce/.test(challenge) || oauthError(response).error === "use_dpop_nonce";
}

/** Meanings of a refusal, by its `error` and its description: the first row that fits counts. */
const tokenRefusals: readonly (readonly [error: string, description: RegExp, IdpProblem])[] = [
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
  const { status, body } = response;
  const { error, description } = oauthError(response);
  const reason = description === "" ? error : `${error}, "${description}"`;
  const answer = `the token endpoint answered ${status} ${reason}`.trimEnd();
  const refusal = (problem: IdpProblem, what = answer) => new IdpError(problem, `Cannot log in to ${orgUrl}: ${what}`);
  const row = tokenRefusals.find(([name, pattern]) => name === error && pattern.test(description));
  if (row !== undefined) return refusal(row[2]);
  if (status >= 300 && status < 400) return refusal("redirect", `${tokenPath} redirects${redirectTarget(response)}`);
  const code = toSafeText(body.object["errorCode"], 20);
  const isPage = body.kind === "html";
  if (status === 404 || status === 405 || (isPage && status < 500 && status !== 429 && status !== 403)) {
    const what = isPage ? "a web page" : `${status} ${code}`.trimEnd();
    return refusal("org_url", `${tokenPath} answered ${what}, so this is not an identity provider's organization`);
  }
  return refusal(status === 403 ? "zone" : problemOf(status), `${answer} ${code}`.trimEnd());
}

export function problemOf(status: number): IdpProblem {
  if (status === 403) return "forbidden";
  if (status === 429) return "rate_limit";
  if (status >= 400) return status < 500 ? "unexpected" : "outage";
  return status < 300 ? "in_between" : "redirect";
}

/** The origin only: the rest of a redirect may hold more than should be shown. */
export function redirectTarget(response: HttpResponse): string {
  const location = response.headers.get("location") ?? "";
  return URL.canParse(location) ? ` to ${new URL(location).origin}` : "";
}
