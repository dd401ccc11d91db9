import { inject } from "vitest";
import { type PostgresServer, startPostgres } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** `PostgresServer.adminUrl` of the server that the global set-up started for the whole run. */
    readonly postgresAdminUrl: string;
  }
}

/** The run's PostgreSQL. Stopping it is a matter of the global set-up; only a run without one starts and stops its own. */
export async function suitePostgres(): Promise<PostgresServer> {
  const adminUrl: string | undefined = inject("postgresAdminUrl");
  if (adminUrl === undefined) return await startPostgres();
  return { adminUrl, async stop() {} };
}
