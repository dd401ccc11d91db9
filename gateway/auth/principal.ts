/** The authenticated caller of a request, and the authority that a stream depends on. */
export interface Principal {
  readonly kind: "user" | "api_key";
  readonly tenantId: string;
  /** The JWT's `sub`, or the API key's id. */
  readonly id: string;
  /** When the authority ends by itself (the JWT's `exp`), in milliseconds since the epoch; null for an API key. */
  readonly expiresAtMs: number | null;
  /** Set for a stream token: the `streamDigest` of the only stream it opens. */
  readonly onlyStream: string | null;
}
