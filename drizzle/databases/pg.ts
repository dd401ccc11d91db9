import { drizzle } from "drizzle-orm/node-postgres";
import { Client, type ClientConfig, Pool, type PoolClient } from "pg";
import { answerGraceMs, type Database, type DatabaseOptions, defaultTimeouts } from "../database.ts";
import { settingsError } from "../../shared/usage_error.ts";
import { createPooledDatabase, toConnectionPool } from "../transact.ts";

/**
 * Any Postgres, over TCP, on Node and Deno. Connects when first used. Throws `UsageError` for a URL that cannot be used.
 */
export function createPgDatabase(url: string, options: DatabaseOptions = {}): Database {
  const { maxConnections = 10, connectTimeoutMs, statementTimeoutMs } = { ...defaultTimeouts, ...options };
  const pool = new Pool({
    ...toClientConfig(url),
    application_name: "scanstream",
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
    // Queries are sent without waiting for the answer to the one before.
    pipeline: true,
    // A client that does not answer is destroyed: `end` would wait for its answers.
    query_timeout: statementTimeoutMs + answerGraceMs,
  });
  const connections = toConnectionPool(pool, (client) => drizzle({ ...options, client: client as PoolClient }));
  return createPooledDatabase(connections, options);
}

/** Throws `UsageError` that says what is wrong with the URL, or with a file that it names, and quotes no password. */
export function toClientConfig(url: string): ClientConfig {
  const config = { connectionString: withExplicitTlsMode(url), keepAlive: true };
  try {
    // Reads the URL and the certificates that it names, now and not at the first statement; it does not connect.
    void new Client(config);
    return config;
  } catch (error) {
    // The message only: Node's error for a URL carries the whole URL with it.
    const problem = error instanceof Error ? error.message : "it is not understood";
    throw settingsError(`DATABASE_URL: ${problem}: expected postgres://user:password@host/database`);
  }
}

/** node-postgres verifies the server under each of these modes, and warns on stderr unless the URL names that mode. */
export function withExplicitTlsMode(url: string): string {
  if (url.includes("uselibpqcompat=")) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, "$1verify-full");
}
