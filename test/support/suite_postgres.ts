import { type PostgresServer, startPostgres } from "./postgres.ts";
import { requestSharedService } from "./shared_services.ts";

/** The run's PostgreSQL, which ends with the run. A program outside of vitest gets its own. */
export async function suitePostgres(): Promise<PostgresServer> {
  const adminUrl = await requestSharedService("postgres");
  return adminUrl === null ? startPostgres() : { adminUrl, async stop() {} };
}
