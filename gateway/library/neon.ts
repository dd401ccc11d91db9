import { createNeonDatabase } from "../../drizzle/databases/neon.ts";
import { checkOptions, optionalText, urlWithUser } from "../check_options.ts";
import type { WorkerDatabaseAdapter } from "../gateway_options.ts";

export interface NeonOptions {
  /** `postgres://user:password@host/database`, of a role that owns no table. */
  readonly url: string;
  /** The URL of a proxy's `/sql`, whose WebSocket is `/v2`. Default: Neon's own. */
  readonly endpoint?: string | undefined;
}

/** Neon's serverless Postgres, over HTTP and WebSockets, on every runtime. */
export function neon(options: NeonOptions): WorkerDatabaseAdapter {
  checkOptions("neon", { url: urlWithUser, endpoint: optionalText }, options);
  const { url, endpoint } = options;
  return {
    open: () => createNeonDatabase(url, { endpoint, keepsConnections: true }),
    openForRequests: () => createNeonDatabase(url, { endpoint }),
  };
}
