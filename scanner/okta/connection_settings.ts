import type { SigningKey } from "./private_key.ts";

/** Settings to log in to an organization and read it. They are parsed and valid. */
export interface ConnectionSettings {
  /** The organization's origin, without a trailing slash: `https://acme.okta.com`. */
  readonly orgUrl: string;
  readonly clientId: string;
  readonly key: SigningKey;
  /** Without prefix: `policies.read`. */
  readonly scopes: readonly string[];
  /** null: asked from the organization. */
  readonly scopePrefix: "okta" | "idp" | null;
  /** How many requests may be under way at once. */
  readonly concurrency: number;
  /** Bound on one request, its body included. */
  readonly timeoutMs: number;
  /** Used for `https://` organizations only: `http://` ones are on this machine, where no proxy is needed. */
  readonly proxy: {
    /** null: none. May carry a password, so it is never shown. */
    readonly httpsProxy: string | null;
    readonly noProxy: string;
  };
}
