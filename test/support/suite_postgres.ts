import { type PostgresServer, startPostgres } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** `PostgresServer.adminUrl` of the server that the global set-up started for the whole run. */
    readonly postgresAdminUrl: string;
  }
}

/** The run's PostgreSQL, which only the global set-up stops. A program outside of vitest, and a run without one, get their own. */
export async function suitePostgres(): Promise<PostgresServer> {
  // Outside of vitest it cannot even be imported.
  if (process.env["VITEST"] === undefined) return startPostgres();
  const { inject } = await import("vitest");
  const adminUrl: string | undefined = inject("postgresAdminUrl");
  if (adminUrl === undefined) return await startPostgres();
  return { adminUrl, async stop() {} };
}
