/** A member of an object or an item of a list. */
export interface PlacedValue {
  /** RFC 6901: `/organizations/0/org_url`. */
  readonly pointer: string;
  /** The nearest member's. */
  readonly name: string;
  /** Called for a text, number or other plain value; objects and lists are given by their parts. */
  readonly value: unknown;
}

const secretNames =
  /^(?:(?:idp_)?private_?key|.*api_?key|(?:client_?)?secret|.*password|(?:access_?|api_?|bearer_?)?token|jwk|jwks|pem)$/i;

/** Forms of keys, tokens and passwords, no matter what the member is called. */
const secretValues: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY/,
  // The same in base64.
  /^LS0tLS1CRUdJTi/,
  /"d"\s*:\s*"/,
  /^scs_[0-9a-f]{8}_/,
  /^ey[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\./,
  // Okta's API tokens.
  /^00[A-Za-z0-9_-]{40}$/,
  /^(?:Bearer|Api-Key|SSWS) /,
];

/** The members that hold a secret: it would be in a repository, in backups, and in what the file is copied to. */
export function findSecrets(members: readonly PlacedValue[]): readonly PlacedValue[] {
  return members.filter(
    ({ name, value }) =>
      secretNames.test(name) || (typeof value === "string" && secretValues.some((secret) => secret.test(value.trim()))),
  );
}
