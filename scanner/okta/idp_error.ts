import { places, remedies } from "./console_places.ts";

/** Every way in which logging in to the provider fails. They are not verdicts: no check is evaluated after one. */
export type IdpErrorCode =
  | "unreachable"
  | "tls_failed"
  | "wrong_org"
  | "bad_key"
  | "wrong_client"
  | "access_denied"
  | "clock_skew"
  | "dpop_refused"
  | "no_scope"
  | "no_role"
  | "provider_error";

/** Document on stdout instead of a report when nothing could be evaluated (exit code 3). */
export interface ErrorReport {
  readonly schema: "scanstream.error/1";
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/**
 * The provider could not be logged in to, or does not let the scanner read. Message and remedy are written for the
 * administrator who set the service application up; they never hold key material, an assertion or a token.
 */
export class IdpError extends Error {
  readonly code: IdpErrorCode;
  /** Steps that help, in the words of the provider's console. */
  readonly remedy: string;

  constructor(code: IdpErrorCode, message: string, remedy: string) {
    super(message);
    this.name = "IdpError";
    this.code = code;
    this.remedy = remedy;
  }
}

const { credentials } = places;
const schemeAndPort =
  "Check the scheme and port of the organization's address, and whether a proxy or firewall answers in the organization's place";

/** Everything that can be wrong at the first contact, at the login and at the probe, with its remedy. */
const problems = {
  network: [
    "unreachable",
    "Check the organization's address, the network and firewalls; behind a proxy set HTTPS_PROXY",
  ],
  dns: [
    "unreachable",
    "Check the spelling of the organization's address, and this machine's DNS; behind a proxy set HTTPS_PROXY",
  ],
  proxy: [
    "unreachable",
    "Check HTTPS_PROXY (address, user and password) and whether the proxy allows the organization's host; NO_PROXY lists hosts that need none",
  ],
  no_answer: ["unreachable", "Check the network and try again; --timeout allows more time for one answer"],
  tls_untrusted: [
    "tls_failed",
    "Put the certificate of your private authority (PEM) in a file and name it in NODE_EXTRA_CA_CERTS; a proxy that inspects TLS needs its own authority there",
  ],
  tls_expired: [
    "tls_failed",
    "Check this machine's date; if it is right, the organization's certificate must be renewed",
  ],
  tls_name: [
    "tls_failed",
    "Check the organization's address: the host name must be one that the organization's certificate names",
  ],
  tls_failed: ["tls_failed", schemeAndPort],
  not_http: ["tls_failed", schemeAndPort],
  org_url: [
    "wrong_org",
    "Use the organization's address, such as https://acme.okta.com; if it is right, a proxy or firewall answers in its place",
  ],
  redirect: ["wrong_org", "Use the organization's own address; redirects are never followed"],
  audience: [
    "wrong_org",
    "Use the organization's own address, as the token endpoint knows it: no custom domain, and not the -admin address",
  ],
  client: [
    "wrong_client",
    `Check the client id, that its application is active, and that ${credentials} → Client authentication is "Public key / Private key"`,
  ],
  client_type: [
    "wrong_client",
    "The client id must be that of an application of type API Services. Create it in Applications → Create App Integration → API Services",
  ],
  inactive_key: [
    "bad_key",
    `This key is not an active key of the application: activate it in ${places.keys}, or set IDP_PRIVATE_KEY_ID to the KID that is shown there`,
  ],
  other_key: [
    "bad_key",
    `The private key does not belong to an active public key of this application: add its public half in ${places.keys}`,
  ],
  clock: ["clock_skew", "Set this machine's clock (NTP): it differs too much from the organization's"],
  dpop: [
    "dpop_refused",
    `Look at ${credentials} → "Require Demonstrating Proof of Possession (DPoP) header in token requests"; a proxy must not remove the DPoP headers`,
  ],
  zone: [
    "access_denied",
    "The organization refuses this machine's network address: allow it in Security → Networks, in the network zone of the application's client credentials, or run from a permitted network; and check the organization's address",
  ],
  forbidden: [
    "access_denied",
    "Check network zones and policies that apply to the service application, proxies and firewalls; and that it has the role Read-Only Administrator",
  ],
  scopes: ["no_scope", remedies.scopes],
  role: ["no_role", remedies.role],
  no_token: ["provider_error", "Use the organization's address, such as https://acme.okta.com"],
  too_large: ["provider_error", "Check the organization's address: an identity provider does not answer like this"],
  rate_limit: ["provider_error", "The organization's rate limit is used up: try again in some minutes"],
  outage: ["provider_error", "The organization has its own problem: look at its status page and try again"],
  unexpected: [
    "provider_error",
    "The organization answered, but not as expected: look at its status page and try again",
  ],
} as const satisfies Readonly<Record<string, readonly [IdpErrorCode, remedy: string]>>;

export type IdpProblem = keyof typeof problems;

/** `message`: what happened. */
export function idpError(problem: IdpProblem, message: string): IdpError {
  const [code, remedy] = problems[problem];
  return new IdpError(code, message, remedy);
}

/** The value, or why the provider cannot be used; anything else is thrown on. */
export async function attempt<Value>(promise: Promise<Value>): Promise<Value | IdpError> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof IdpError) return error;
    throw error;
  }
}

export function toErrorReport(error: IdpError): ErrorReport {
  return { schema: "scanstream.error/1", code: error.code, message: error.message, remedy: error.remedy };
}
