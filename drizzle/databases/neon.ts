import { type Client, neon, neonConfig, Pool, type PoolConfig } from "@neondatabase/serverless";
import { sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { drizzle as drizzleHttp } from "drizzle-orm/neon-http";
import { drizzle as drizzleServerless } from "drizzle-orm/neon-serverless";
import {
  answerGraceMs,
  type Database,
  type DatabaseOptions,
  defaultConnectTimeoutMs,
  defaultStatementTimeoutMs,
  type TenantDatabase,
} from "../database.ts";
import { toDatabaseError, unwrapDatabaseError } from "../database_error.ts";
import { createPooledDatabase, toConnectionPool } from "../transact.ts";

export interface NeonOptions extends Omit<DatabaseOptions, "logger"> {
  /** The URL of a proxy's `/sql`; its WebSocket is `/v2` of the same host. Default: Neon's own, which the host of the URL names. */
  readonly endpoint?: string | undefined;
}

/**
 * Neon, for a Worker: a single query is one HTTP request, and each transaction opens and ends a WebSocket, because
 * no connection may outlive the request that opened it. Throws `TypeError` for a URL that cannot be used.
 */
export function createNeonDatabase(url: string, options: NeonOptions = {}): Database {
  return openNeon(url, options, { max: Infinity, maxUses: 1 });
}

/** As `createNeonDatabase`, for a Durable Object, which keeps its connections: a few, and each until it was idle for 10 s. */
export function createNeonPoolDatabase(url: string, options: NeonOptions = {}): Database {
  return openNeon(url, options, { max: options.maxConnections ?? 4, idleTimeoutMillis: 10_000 });
}

function openNeon(url: string, { endpoint, ...options }: NeonOptions, kept: PoolConfig): Database {
  requireUrl(url);
  configurePackage(endpoint);
  const { connectTimeoutMs = defaultConnectTimeoutMs, statementTimeoutMs = defaultStatementTimeoutMs } = options;
  const timeoutMs = connectTimeoutMs + statementTimeoutMs + answerGraceMs;
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs, ...kept });
  const connections = toConnectionPool(pool, (query) => {
    // The driver calls nothing but `query`.
    return drizzleServerless({ client: { query } as unknown as Client });
  });
  const http = { url, timeoutMs };
  return createPooledDatabase({ ...connections, sendOne: (begin, query) => sendOne(http, begin, query) }, options);
}

/** Drops what the driver still writes when the server has closed: workerd throws, in a timer where nobody can catch it. */
class OpenWebSocket extends WebSocket {
  override send(data: Parameters<WebSocket["send"]>[0]): void {
    if (this.readyState === WebSocket.OPEN) super.send(data);
  }
}

/** The driver's endpoint is a setting of its package: a process has one Neon. */
function configurePackage(endpoint: string | undefined): void {
  neonConfig.webSocketConstructor = OpenWebSocket;
  if (endpoint !== undefined) {
    const { host, protocol } = new URL(endpoint);
    neonConfig.fetchEndpoint = endpoint;
    neonConfig.wsProxy = `${host}/v2`;
    neonConfig.useSecureWebSocket = protocol === "https:";
    // Neon takes the password before it asks for one; a server behind another proxy may ask in another way.
    neonConfig.pipelineConnect = false;
  }
}

/** A batch is one transaction: https://neon.com/docs/serverless/serverless-driver */
async function sendOne<Result>(
  { url, timeoutMs }: { readonly url: string; readonly timeoutMs: number },
  begin: readonly string[],
  query: (db: TenantDatabase) => PromiseLike<Result>,
): Promise<Result> {
  // The connection string is for nobody else: a redirect is not followed.
  const fetchOptions = { redirect: "manual", signal: AbortSignal.timeout(timeoutMs) };
  const db = drizzleHttp({ client: neon(url, { fetchOptions }) });
  // The driver's own types tell the dialects apart, and not the drivers.
  const batch = [...begin.map((statement) => db.execute(sql.raw(statement))), query(db)] as unknown;
  try {
    return (await db.batch(batch as [BatchItem<"pg">])).at(-1) as Result;
  } catch (error) {
    throw toDatabaseError(unwrapDatabaseError(error));
  }
}

/** Throws `TypeError`, which never quotes the URL: it holds a password. */
function requireUrl(url: string): void {
  const parsed = URL.parse(url);
  if (parsed !== null && /^postgres(ql)?:$/.test(parsed.protocol) && parsed.username && parsed.hostname) return;
  throw new TypeError("Cannot use the database URL: expected postgres://user:password@host/database");
}
