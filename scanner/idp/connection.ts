import type { Engine, Role } from "../../shared/report.ts";
import type { IdpClient, IdpRequest } from "./idp_client.ts";
import type { SigningKey } from "./private_key.ts";

/** What it takes to log in to an organization and read it. Parsed: what is in here is valid. */
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
  readonly proxy: ProxySettings;
}

/** For `https://` organizations only: `http://` ones are on this machine, where no proxy is needed. */
export interface ProxySettings {
  /** null: none. May carry a password, so it is never shown. */
  readonly httpsProxy: string | null;
  readonly noProxy: string;
}

/** A logged-in organization that has proved, by the probe, that it lets the scanner read. */
export interface Connection {
  readonly client: IdpClient;
  readonly org: ConnectedOrg;
  readonly scopes: ConnectionScopes;
  /** What the run could see, as far as the answers so far show it; ask at the end of the collection. */
  role(): Role;
  /** The report's `scan.requests`, up to now. */
  counters(): RequestCounters;
  /** Lets go of every socket. Requests still under way fail. */
  close(): Promise<void>;
}

interface ConnectedOrg {
  /** The origin, without a trailing slash: `https://acme.okta.com`. */
  readonly url: string;
  readonly engine: Engine;
  /** The provider's id of the organization; null where it does not say. */
  readonly id: string | null;
}

/** Scope names as the provider writes them, with its prefix: `okta.policies.read`. */
interface ConnectionScopes {
  readonly requested: readonly string[];
  readonly granted: readonly string[];
}

interface RequestCounters {
  /** Everything sent, token requests and repetitions included. */
  readonly total: number;
  readonly retried: number;
  /** Time in which at least one request waited for the provider's rate limit, in milliseconds. */
  readonly throttled_ms: number;
}

export interface ConnectOptions {
  /** Stops everything at once; every pending call then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /**
   * What the probe may read, best first: requests that the selected checks make anyway. Their answers are kept for the
   * first collector that asks, so the probe costs no request of its own.
   */
  readonly probes?: readonly IdpRequest[];
}
