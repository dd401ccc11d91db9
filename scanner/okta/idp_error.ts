const app = "Applications → your app";
const credentials = `${app} → General → Client Credentials`;

/** Places in Okta's Admin Console where each thing is set that a scan needs: one list for errors, `doctor` and `setup`. */
export const places = {
  keys: `${credentials} → Public Keys`,
  scopes: `${app} → Okta API Scopes → Grant`,
  role: `${app} → Admin roles → Edit assignments`,
  dpop: `${app} → General → "Require Demonstrating Proof of Possession (DPoP) header in token requests"`,
  publicClientAdmins: 'Settings → Account → "Public client app admins"',
} as const;

/** Remedies for what a scan needs: one table for `scan`, `doctor` and `setup`. */
export const remedies = {
  key: `Add a key in ${places.keys} → Add key, and give scanstream the private half as PEM or JWK; scanstream setup makes one for you`,
  scopes: `Grant the read scopes in ${places.scopes}`,
  role: `Assign Read-Only Administrator in ${places.role}`,
  dpop: `Turn on ${places.dpop}`,
  lessRole: `Assign Read-Only Administrator for routine scans (${places.role}) and Super Administrator for a separate run only; turn off ${places.publicClientAdmins}, which assigns Super Administrator by itself`,
} as const;

const network = "Check the organization's address, the network and firewalls; behind a proxy set HTTPS_PROXY";
const notTls =
  "Check the scheme and port of the organization's address, and whether a proxy or firewall answers in the organization's place";

/** Everything that can be wrong at the first contact, at the login and at the probe: its remedy, below the code of its error. */
const problems = {
  unreachable: {
    network,
    refused: network,
    reset: network,
    timeout: network,
    dns: "Check the spelling of the organization's address, and this machine's DNS; behind a proxy set HTTPS_PROXY",
    proxy:
      "Check HTTPS_PROXY (address, user and password) and whether the proxy allows the organization's host; NO_PROXY lists hosts that need none",
    no_answer: "Check the network and try again; --timeout allows more time for one answer",
  },
  tls_failed: {
    tls_untrusted:
      "Put the certificate of your private authority (PEM) in a file and name it in NODE_EXTRA_CA_CERTS; a proxy that inspects TLS needs its own authority there",
    tls_expired: "Check this machine's date; if it is right, the organization's certificate must be renewed",
    tls_name: "Check the organization's address: the host name must be one that the organization's certificate names",
    tls_failed: notTls,
    not_http: notTls,
  },
  wrong_org: {
    org_url:
      "Use the organization's address, such as https://acme.okta.com; if it is right, a proxy or firewall answers in its place",
    redirect: "Use the organization's own address; redirects are never followed",
    audience:
      "Use the organization's own address, as the token endpoint knows it: no custom domain, and not the -admin address",
  },
  wrong_client: {
    client: `Check the client id, that its application is active, and that ${credentials} → Client authentication is "Public key / Private key"`,
    client_type:
      "The client id must be that of an application of type API Services. Create it in Applications → Create App Integration → API Services",
  },
  bad_key: {
    inactive_key: `This key is not an active key of the application: activate it in ${places.keys}, or set IDP_PRIVATE_KEY_ID to the KID that is shown there`,
    other_key: `The private key does not belong to an active public key of this application: add its public half in ${places.keys}`,
  },
  clock_skew: { clock: "Set this machine's clock (NTP): it differs too much from the organization's" },
  dpop_refused: {
    dpop: `Look at ${credentials} → "Require Demonstrating Proof of Possession (DPoP) header in token requests"; a proxy must not remove the DPoP headers`,
  },
  access_denied: {
    zone: "The organization refuses this machine's network address: allow it in Security → Networks, in the network zone of the application's client credentials, or run from a permitted network; and check the organization's address",
    forbidden:
      "Check network zones and policies that apply to the service application, proxies and firewalls; and that it has the role Read-Only Administrator",
  },
  no_scope: { scopes: remedies.scopes },
  no_role: { role: remedies.role },
  provider_error: {
    too_large: "Check the organization's address: an identity provider does not answer like this",
    no_token: "Use the organization's address, such as https://acme.okta.com",
    in_between: "Check for a proxy or firewall that answers in the organization's place, and try again",
    rate_limit: "The organization's rate limit is used up: try again in some minutes",
    outage: "The organization has its own problem: look at its status page and try again",
    unexpected: "The organization answered, but not as expected: look at its status page and try again",
  },
} as const;

type Problems = typeof problems;
export type IdpErrorCode = keyof Problems;
export type IdpProblem = { readonly [Code in IdpErrorCode]: keyof Problems[Code] }[IdpErrorCode];
/** Ways in which a request gets no usable HTTP response. */
export type NetworkProblem = keyof Problems["unreachable"] | keyof Problems["tls_failed"] | "too_large";

const rows = new Map(
  (Object.keys(problems) as IdpErrorCode[]).flatMap((code) =>
    Object.entries(problems[code]).map(([problem, remedy]) => [problem, { code, remedy }]),
  ),
);

/**
 * The provider could not be logged in to, or does not let the scanner read. That is not a verdict: no check is evaluated after it. Message
 * and remedy are written for the administrator who set the service application up; they never hold key material, an assertion or a token.
 */
export class IdpError extends Error {
  readonly code: IdpErrorCode;
  /** Steps that help, in the words of the provider's console. */
  readonly remedy: string;

  /** `message`: what happened. */
  constructor(problem: IdpProblem, message: string, remedy?: string) {
    super(message);
    const found = rows.get(problem);
    if (found === undefined) throw new TypeError(`There is no remedy for ${problem}`);
    this.name = "IdpError";
    this.code = found.code;
    this.remedy = remedy ?? found.remedy;
  }
}

/** `scopes`: with the provider's prefix. */
export function grantRemedy(scopes: readonly string[]): string {
  return `${remedies.scopes}: ${scopes.join(", ")}`;
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
