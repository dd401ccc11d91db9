import { neonConfig } from "@neondatabase/serverless";
import type { Database } from "../../../drizzle/database.ts";
import { createNeonHttpDatabase } from "../../../drizzle/databases/neon_http.ts";
import type { WorkerConfig } from "./worker_config.ts";

/** Keeps no connection, so that one serves every request of the isolate. */
export function openNeon({ databaseUrl, databaseHttpUrl }: WorkerConfig): Database {
  // The driver has this setting once for all databases; there is one.
  if (databaseHttpUrl !== null) neonConfig.fetchEndpoint = () => databaseHttpUrl;
  return createNeonHttpDatabase(databaseUrl);
}
