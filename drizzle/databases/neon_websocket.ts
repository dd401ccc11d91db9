import { Pool } from "@neondatabase/serverless";
import { type Database, type DatabaseOptions, defaultConnectTimeoutMs } from "../database.ts";
import { createPoolDatabase } from "./pool_database.ts";
import { requirePostgresUrl } from "./postgres_url.ts";

/**
 * Neon over WebSocket. On Workers one per request, closed at its end: a connection belongs to the request that opened it.
 * Opening one takes several round trips, after that a statement takes one; `neon_http.ts` is for few statements a request.
 */
export function createNeonWebsocketDatabase(url: string, options: DatabaseOptions = {}): Database {
  requirePostgresUrl(url);
  const pool = new Pool({
    connectionString: url,
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
    idleTimeoutMillis: 30_000,
  });
  return createPoolDatabase(pool, { statementTimeoutMs: options.statementTimeoutMs });
}
