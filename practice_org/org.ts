import type { Faults } from "./api/faults.ts";
import type { KnownApp, ServiceAppState } from "./auth/service_app.ts";
import type { TokenEndpoint } from "./auth/token_endpoint.ts";
import type { AdminConsole, OrgState } from "./changes/admin_console.ts";
import type { App } from "./contents/org_contents.ts";
import type { RateLimits } from "./http/rate_limits.ts";
import type { SystemLog } from "./log/system_log.ts";

/** The org behind its HTTP server. */
export interface Org extends TokenEndpoint {
  readonly state: OrgState;
  readonly console: AdminConsole;
  readonly log: SystemLog;
  /** The scanner's. */
  readonly serviceApp: App;
  /** Callers of the API, by client id. */
  readonly callers: ReadonlyMap<string, Caller>;
  /** The scanner's, as the Admin Console has it. */
  readonly app: ServiceAppState;
  /** Takes what the Terraform provider writes. */
  readonly isWritable: boolean;
  readonly rateLimits: RateLimits;
  readonly faults: Faults;
  readonly cursorSecret: Uint8Array;
  readonly clock: () => number;
}

/** A service application with its name. */
export interface Caller {
  readonly label: string;
  readonly app: KnownApp;
}
