import type { MissingEvidence } from "../evidence/artifacts.ts";
import { ForbiddenRequest, type HttpResponse } from "./http_transport.ts";
import type { Refusal } from "./idp_client.ts";
import { IdpError } from "./idp_error.ts";
import { objectIn, parseBody, type ParsedBody } from "./json_answer.ts";
import { NetworkError } from "./network_error.ts";
import { toSafeText, toShownPath } from "./safe_text.ts";
import { redirectTarget } from "./token_errors.ts";

/** A read that gave nothing: the evidence, and the refusal that a collector may branch on. */
export interface Missing extends MissingEvidence<never> {
  readonly refusal: Refusal;
}

/** Classifies how the provider refuses a read (E6). `scope` is the full name of the scope it needs. */
export function toMissing(response: HttpResponse, path: string, scope: string): Missing {
  const { status } = response;
  const { errorCode: givenCode, errorSummary } = objectIn(response.body);
  const errorCode = typeof givenCode === "string" ? toSafeText(givenCode, 20) : null;
  const missing = (reason: Missing["reason"], problem: string) =>
    of(reason, `GET ${toShownPath(path)} answered ${status}${errorCode === null ? "" : ` ${errorCode}`}${problem}`, {
      httpStatus: status,
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

/** An answer of 200 that is no evidence. */
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
    return `a redirect${redirectTarget(response)} is never followed; check IDP_ORG_URL`;
  if (status === 401) return "it did not take the access token, not even a new one";
  if (status === 403 && parseBody(response.body).kind === "html") {
    return "something between here and the provider refuses; check network zones, proxies and firewalls";
  }
  return "this answer was not expected; scan again, and report it if it stays";
}
