import type { MissingReason } from "../evidence/artifacts.ts";
import type { IdpRequest, Refusal } from "./idp_client.ts";
import { objectIn, parseBody } from "./json_answer.ts";
import { toSafeText, toShownPath } from "./safe_text.ts";
import { redirectTarget } from "./token_errors.ts";
import type { HttpResponse } from "./http_transport.ts";

/** Why a read gave nothing: the reason and detail of the evidence, and the refusal that a collector may branch on. */
export interface Missing {
  readonly reason: MissingReason;
  readonly detail: string;
  readonly refusal: Refusal;
}

/** Classifies how the provider refuses a read (E6). `scope` is the full name of the scope it needs. */
export function toMissing(response: HttpResponse, request: IdpRequest, scope: string): Missing {
  const { errorCode: givenCode, errorSummary } = objectIn(response.body);
  const errorCode = typeof givenCode === "string" ? toSafeText(givenCode, 20) : null;
  const refusal = { httpStatus: response.status, errorCode };
  const call = `GET ${toShownPath(request.path)} answered ${response.status}${errorCode === null ? "" : ` ${errorCode}`}`;
  const summary = toSafeText(errorSummary);
  const quoted = summary === "" ? "" : ` ("${summary}")`;
  if (response.status === 403 && isInsufficientScope(response)) {
    return { ...missingScope(call, requiredScopes(response) ?? scope), refusal };
  }
  if (response.status === 403 && errorCode === "E0000006") {
    const detail = `${call}: the service app's admin role may not read this; scanstream explain names the role that a rule needs`;
    return { reason: "missing_role", detail, refusal };
  }
  if (response.status === 401 && errorCode === "E0000015") {
    const detail = `${call}: the feature is not enabled for this organization, so it cannot be examined here`;
    return { reason: "not_available", detail, refusal };
  }
  return { reason: "provider_error", detail: `${call}${quoted}: ${explain(response)}`, refusal };
}

/** A scope that is not granted, so that nothing was sent, or that the provider names. */
export function missingScope(call: string, scope: string): Pick<Missing, "reason" | "detail"> {
  const remedy = `grant it in Applications → your app → Okta API Scopes and scan again`;
  return { reason: "missing_scope", detail: `${call}: the scope ${scope} is not granted; ${remedy}` };
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
