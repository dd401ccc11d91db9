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

/** Remedies for what a scan needs: one table for `scan`, `doctor` and `setup`. */
export const remedies = {
  key: `Add a key in ${places.keys} → Add key, and give scanstream the private half as PEM or JWK; scanstream setup makes one for you`,
  scopes: `Grant the read scopes in ${places.scopes}`,
  role: `Assign Read-Only Administrator in ${places.role}`,
  dpop: `Turn on ${places.dpop}`,
  lessRole: `Assign Read-Only Administrator for routine scans (${places.role}) and Super Administrator for a separate run only; turn off ${places.publicClientAdmins}, which assigns Super Administrator by itself`,
} as const;
