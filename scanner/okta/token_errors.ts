import { places, remedies } from "./console_places.ts";
import { IdpError } from "./idp_error.ts";
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

/** The error of a refused token request, for the administrator who set the service application up. */
export function tokenRefusal(response: HttpResponse, orgUrl: string): IdpError {
  const { error, description } = oauthError(response);
  const reason = description === "" ? error : `${error}, "${description}"`;
  const message = `Cannot log in to ${orgUrl}: the token endpoint answered ${response.status} ${reason}`.trimEnd();
  switch (error) {
    case "invalid_client":
      return invalidClient({ response, description, message });
    case "unauthorized_client":
    case "unsupported_grant_type":
      return new IdpError(
        "wrong_client",
        message,
        `IDP_CLIENT_ID must be that of an application of type API Services. ${createApp}`,
      );
    case "invalid_scope":
      return new IdpError("no_scope", message, remedies.scopes);
    case "access_denied":
      return new IdpError("access_denied", message, allowNetwork);
    case "invalid_dpop_proof":
    case "use_dpop_nonce":
      return new IdpError(
        "dpop_refused",
        message,
        `Look at ${places.credentials} → "Require Demonstrating Proof of Possession (DPoP) header in token requests"; a proxy must not remove the DPoP headers`,
      );
    default:
      return otherRefusal(response, { orgUrl, message });
  }
}

/** A login that succeeded, but whose response holds no token. */
export function unreadableToken(orgUrl: string): IdpError {
  return new IdpError(
    "provider_error",
    `Cannot log in to ${orgUrl}: the token endpoint's answer holds no usable token`,
    checkOrgUrl,
  );
}

interface ClientRefusal {
  readonly response: HttpResponse;
  readonly description: string;
  readonly message: string;
}

function invalidClient({ response, description, message }: ClientRefusal): IdpError {
  if (isClockRefusal(response)) {
    return new IdpError(
      "clock_skew",
      message,
      "Set this machine's clock (NTP): it differs too much from the organization's",
    );
  }
  if (/audience/i.test(description)) {
    return new IdpError(
      "wrong_org",
      message,
      "Set IDP_ORG_URL to the organization's own address, as the token endpoint knows it: no custom domain, and not the -admin address",
    );
  }
  if (/\bkid\b/i.test(description)) {
    return new IdpError(
      "bad_key",
      message,
      `Set IDP_PRIVATE_KEY_ID to the key's KID as shown in ${places.credentials} → Public Keys`,
    );
  }
  if (/signature|private_key_jwt|client_assertion.*invalid|jwks|public key/i.test(description)) {
    return new IdpError(
      "bad_key",
      message,
      `The private key does not belong to an active public key of this application: add its public half in ${places.credentials} → Public Keys`,
    );
  }
  return new IdpError(
    "wrong_client",
    message,
    `Check IDP_CLIENT_ID, that its application is active, and that ${places.credentials} → Client authentication is "Public key / Private key"`,
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
      checkOrgUrl,
    );
  }
  const code = toSafeText(objectIn(response.body)["errorCode"], 20);
  const body = parseBody(response.body).kind;
  if (status === 404 || (status < 500 && status !== 429 && status !== 403 && body === "html") || status === 405) {
    const what = body === "html" ? "a web page" : `${status} ${code}`.trimEnd();
    return new IdpError(
      "wrong_org",
      `Cannot log in to ${context.orgUrl}: ${tokenPath} answered ${what}, so this is not an identity provider's organization`,
      checkOrgUrl,
    );
  }
  if (status === 403) {
    return new IdpError("access_denied", `${context.message.trimEnd()} ${code}`.trimEnd(), allowNetwork);
  }
  const wait =
    status === 429
      ? "The organization's rate limit for token requests is used up: try again in some minutes"
      : "The organization has its own problem: look at its status page and try again";
  return new IdpError("provider_error", `${context.message} ${code}`.trimEnd(), wait);
}

/** The origin only: the rest of a redirect may hold more than should be shown. */
export function redirectTarget(response: HttpResponse): string {
  const location = response.headers.get("location") ?? "";
  return URL.canParse(location) ? ` to ${new URL(location).origin}` : "";
}

const createApp = `Create it in ${places.createApp}`;
const checkOrgUrl = "Set IDP_ORG_URL to the organization's address, such as https://acme.okta.com";
const allowNetwork =
  "The organization refuses this machine's network address: allow it in Security → Networks, in the network zone of the application's client credentials, or run from a permitted network; and check IDP_ORG_URL";
