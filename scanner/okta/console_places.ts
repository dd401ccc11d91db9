/** Places in Okta's Admin Console where each thing is set that a scan needs: one list for errors, `doctor` and `setup`. */

const app = "Applications → your app";
const credentials = `${app} → General → Client Credentials`;

/** The places, as remedies name them. */
export const places = {
  credentials,
  keys: `${credentials} → Public Keys`,
  scopes: `${app} → Okta API Scopes → Grant`,
  role: `${app} → Admin roles → Edit assignments`,
  dpop: `${app} → General → "Require Demonstrating Proof of Possession (DPoP) header in token requests"`,
  publicClientAdmins: 'Settings → Account → "Public client app admins"',
} as const;

/** Remedies for the errors of a login and of reading: one table for `scan`, `doctor` and `setup`. */
export const remedies = {
  orgUrl: "Set IDP_ORG_URL to the organization's address, such as https://acme.okta.com",
  ownAddress:
    "Set IDP_ORG_URL to the organization's own address, as the token endpoint knows it: no custom domain, and not the -admin address",
  client: `Check IDP_CLIENT_ID, that its application is active, and that ${credentials} → Client authentication is "Public key / Private key"`,
  clientType:
    "IDP_CLIENT_ID must be that of an application of type API Services. Create it in Applications → Create App Integration → API Services",
  clock: "Set this machine's clock (NTP): it differs too much from the organization's",
  network:
    "The organization refuses this machine's network address: allow it in Security → Networks, in the network zone of the application's client credentials, or run from a permitted network; and check IDP_ORG_URL",
  activeKey: `This key is not an active key of the application: activate it in ${places.keys}, or set IDP_PRIVATE_KEY_ID to the KID that is shown there`,
  matchingKey: `The private key does not belong to an active public key of this application: add its public half in ${places.keys}`,
  dpopHeaders: `Look at ${credentials} → "Require Demonstrating Proof of Possession (DPoP) header in token requests"; a proxy must not remove the DPoP headers`,
  tokenRateLimit: "The organization's rate limit for token requests is used up: try again in some minutes",
  providerProblem: "The organization has its own problem: look at its status page and try again",
  key: `Add a key in ${places.keys} → Add key, and give scanstream the private half as PEM or JWK; scanstream setup makes one for you`,
  scopes: `Grant the read scopes in ${places.scopes}`,
  role: `Assign Read-Only Administrator in ${places.role}`,
  dpop: `Turn on ${places.dpop}`,
  lessRole: `Assign Read-Only Administrator for routine scans (${places.role}) and Super Administrator for a separate run only; turn off ${places.publicClientAdmins}, which assigns Super Administrator by itself`,
} as const;
