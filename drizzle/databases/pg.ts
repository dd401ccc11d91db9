import { Pool } from "pg";
import { type Database, type DatabaseOptions, defaultConnectTimeoutMs } from "../database.ts";
import { createPoolDatabase } from "./pool_database.ts";

/** Any Postgres, over TCP, on Node and Deno. Connects when first used. One round trip a statement. */
export function createPgDatabase(url: string, options: DatabaseOptions = {}): Database {
  const pool = new Pool({
    connectionString: withExplicitTlsMode(url),
    application_name: "scanstream",
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    allowExitOnIdle: true,
  });
  return createPoolDatabase(pool, { statementTimeoutMs: options.statementTimeoutMs });
}

/** node-postgres verifies the server under each of these modes, and warns on stderr until the URL says so itself. */
export function withExplicitTlsMode(url: string): string {
  if (url.includes("uselibpqcompat=")) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, "$1verify-full");
}
