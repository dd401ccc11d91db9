import { Client, type ClientConfig, Pool } from "pg";
import { type Database, type DatabaseOptions, defaultConnectTimeoutMs } from "../database.ts";
import { createPoolDatabase } from "./pool_database.ts";
import { PreparedStatements } from "./prepared_statements.ts";

/**
 * Any Postgres, over TCP, on Node and Deno. Connects when first used; one round trip a statement. Throws `TypeError` for a
 * URL that cannot be used.
 */
export function createPgDatabase(url: string, options: DatabaseOptions = {}): Database {
  const pool = new Pool({
    ...toClientConfig(url),
    application_name: "scanstream",
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  });
  const prepared = new PreparedStatements();
  const { statementTimeoutMs, connectTimeoutMs } = options;
  return createPoolDatabase(pool, { statementTimeoutMs, connectTimeoutMs, prepared });
}

/** Throws `TypeError` that says what is wrong with the URL, or with a file that it names, and quotes no password. */
export function toClientConfig(url: string): ClientConfig {
  const config = { connectionString: withExplicitTlsMode(url), keepAlive: true };
  const problem = findProblem(config);
  if (problem === null) return config;
  throw new TypeError(`Cannot use the database URL: ${problem}: expected postgres://user:password@host/database`);
}

/** Its message only: Node's error for a URL carries the whole URL with it. */
function findProblem(config: ClientConfig): string | null {
  try {
    // Reads the URL and the certificates that it names, now and not at the first statement; it does not connect.
    void new Client(config);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "it is not understood";
  }
}

/** node-postgres verifies the server under each of these modes, and warns on stderr unless the URL names that mode. */
export function withExplicitTlsMode(url: string): string {
  if (url.includes("uselibpqcompat=")) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, "$1verify-full");
}
