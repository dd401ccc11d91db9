import type { Permission } from "./permissions.ts";

/** The authenticated caller of a request, and the authority that a stream depends on. */
export interface Principal {
  readonly kind: "user" | "api_key";
  readonly tenantId: string;
  /** The JWT's `sub`, or the API key's id. */
  readonly id: string;
  /** When the authority ends by itself (the JWT's `exp`, the API key's `expires_at`), in milliseconds since the epoch; null: it does not. */
  readonly expiresAtMs: number | null;
  /** Set for a stream token: the `streamDigest` of the only stream it opens. */
  readonly onlyStream: string | null;
}

/** A caller and what it is about to do, which its role or scopes are checked for with each statement. */
export interface AllowedPrincipal extends Principal {
  readonly permission: Permission;
}
