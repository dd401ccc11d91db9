import type { MissingEvidence } from "../evidence/artifacts.ts";
import { ForbiddenRequest, tokenPath, type HttpResponse } from "./http_transport.ts";
import type { Refusal } from "./idp_client.ts";
import { idpError, IdpError, type IdpProblem } from "./idp_error.ts";
import { objectIn, parseBody, type ParsedBody } from "./json_answer.ts";
import { NetworkError } from "./network_error.ts";
import { toSafeText, toShownPath } from "./safe_text.ts";

/** A read that gave nothing: the evidence, and the refusal that a collector may branch on. */
export interface Missing extends MissingEvidence<never> {
  readonly refusal: Refusal;
}

/** Classifies how the provider refuses a read (E6). `scope` is the full name of the scope it needs. */
export function toMissing(response: HttpResponse, path: string, scope: string): Missing {
  const { status } = response;
  const { errorCode: givenCode, errorSummary } = objectIn(response.body);
  const errorCode = typeof givenCode === "string" ? toSafeText(givenCode, 20) : null;
  // Something in between refuses with a page: its 404 is not the absence of an object, nor its 400 a bad query.
  const isPage = status >= 400 && status < 429 && parseBody(response.body).kind === "html";
  const missing = (reason: Missing["reason"], problem: string) =>
    of(reason, `GET ${toShownPath(path)} answered ${status}${errorCode === null ? "" : ` ${errorCode}`}${problem}`, {
      httpStatus: isPage ? 403 : status,
      errorCode,
    });
  if (status === 403 && isInsufficientScope(response))
    return missing("missing_scope", notGranted(requiredScopes(response) ?? scope));
  if (status === 403 && errorCode === "E0000006") {
    const problem =
      "the service app's admin role may not read this; scanstream explain names the role that a rule needs";
    return missing("missing_role", `: ${problem}`);
  }
  if (status === 401 && errorCode === "E0000015") {
    const problem = "the feature is not enabled for this organization, so it cannot be examined here";
    return missing("not_available", `: ${problem}`);
  }
  const summary = toSafeText(errorSummary);
  return missing("provider_error", `${summary === "" ? "" : ` ("${summary}")`}: ${explain(response)}`);
}

/** Nothing was sent, because the token does not carry the scope. */
export function notRequested(path: string, scope: string): Missing {
  return of("missing_scope", `GET ${toShownPath(path)} was not asked for${notGranted(scope)}`);
}

export function notUnderstood(path: string, problem: string): Missing {
  return ofOk("unreadable", path, `, but its body ${problem}, so it is not understood`);
}

export function brokenChain(path: string, problem: string): Missing {
  return ofOk("provider_error", path, `, but ${problem}`);
}

const notJsonTexts = { html: "a web page instead of JSON", empty: "an empty body", broken: "broken or cut-off JSON" };

export function notJson(path: string, kind: Exclude<ParsedBody["kind"], "json">): Missing {
  const remedy = "check for a proxy or firewall in between, and scan again";
  return ofOk("provider_error", path, ` with ${notJsonTexts[kind]}; ${remedy}`);
}

/** There was no response. Throws again what is not the provider's doing: an abort, and bugs. */
export function unanswered(path: string, error: unknown): Missing {
  const request = `GET ${toShownPath(path)}`;
  if (error instanceof NetworkError)
    return of("provider_error", `${request} got no answer: ${error.message}; scan again later`);
  if (error instanceof IdpError) {
    const problem = "was not asked for, because the access token could not be renewed";
    return of("provider_error", `${request} ${problem}: ${error.message}`);
  }
  if (error instanceof ForbiddenRequest) return of("unreadable", `${request}: ${error.message}`);
  throw error;
}

/** Without a refusal: there was no response. */
function of(
  reason: Missing["reason"],
  detail: string,
  refusal: Refusal = { httpStatus: null, errorCode: null },
): Missing {
  return { state: "missing", reason, detail, partial: null, refusal };
}

/** An answer of 200 that is not evidence. */
function ofOk(reason: Missing["reason"], path: string, problem: string): Missing {
  return of(reason, `GET ${toShownPath(path)} answered 200${problem}`, { httpStatus: 200, errorCode: null });
}

function notGranted(scope: string): string {
  const remedy = "grant it in Applications → your app → Okta API Scopes and scan again";
  return `: the scope ${scope} is not granted; ${remedy}`;
}

/** In a header only; the body is empty. */
function isInsufficientScope(response: HttpResponse): boolean {
  return /\berror\s*=\s*"?insufficient_scope\b/i.test(response.headers.get("www-authenticate") ?? "");
}

/** The scopes that the provider's challenge asks for, which win over what this program believes; null where it names none. */
function requiredScopes(response: HttpResponse): string | null {
  const text = /\bscope\s*=\s*"([^"]{1,200})"/i.exec(response.headers.get("www-authenticate") ?? "")?.[1] ?? "";
  const names = text.split(/\s+/).filter((name) => /^[a-z]+(\.[A-Za-z]+)+$/.test(name));
  return names.length === 0 ? null : names.join(", ");
}

function explain(response: HttpResponse): string {
  const { status } = response;
  if (status === 429) return "its rate limit stayed used up; scan again later, or with a lower --concurrency";
  if (status >= 500) return "the provider has its own problem; scan again later";
  if (status >= 300 && status < 400)
    return `a redirect${redirectTarget(response)} is never followed; check the organization's address`;
  if (status === 401) return "it did not take the access token, not even a new one";
  if (parseBody(response.body).kind === "html") {
    return "something between here and the provider refuses; check network zones, proxies and firewalls";
  }
  return "this answer was not expected; scan again, and report it if it stays";
}

/** How the provider describes a client that is right but whose clock is wrong. */
export const clockRefusal =
  /expir|too far into the future|issued (before|in the future|after)|not yet valid|\biat\b|\bexp\b|\bnbf\b/i;

/** `error` and `error_description` of a refused token request; empty where there are none. */
export function oauthError(response: HttpResponse): { readonly error: string; readonly description: string } {
  const { error, error_description: description } = objectIn(response.body);
  return { error: toSafeText(error, 80), description: toSafeText(description) };
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
  const { status } = response;
  const { error, description } = oauthError(response);
  const reason = description === "" ? error : `${error}, "${description}"`;
  const answer = `the token endpoint answered ${status} ${reason}`.trimEnd();
  const refusal = (problem: IdpProblem, what = answer) => idpError(problem, `Cannot log in to ${orgUrl}: ${what}`);
  const row = tokenRefusals.find(([name, pattern]) => name === error && pattern.test(description));
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
