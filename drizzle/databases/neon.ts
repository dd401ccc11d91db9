import { type Client, neon, neonConfig, Pool } from "@neondatabase/serverless";
import { sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { drizzle as drizzleHttp } from "drizzle-orm/neon-http";
import { drizzle as drizzleServerless } from "drizzle-orm/neon-serverless";
import {
  answerGraceMs,
  type Database,
  type DatabaseOptions,
  defaultTimeouts,
  type TenantDatabase,
} from "../database.ts";
import { toDatabaseError } from "../database_error.ts";
import { createPooledDatabase, toConnectionPool } from "../transact.ts";

export interface NeonOptions extends Pick<DatabaseOptions, "connectTimeoutMs" | "statementTimeoutMs"> {
  /** The URL of a proxy's `/sql`; its WebSocket is `/v2` of the same host. Default: Neon's own, which the host of the URL names. */
  readonly endpoint?: string | undefined;
  /**
   * Keeps a few connections, each until it was idle for 10 s, as a Durable Object may. Default: each transaction opens and
   * ends a WebSocket, because in a Worker no connection may outlive the request that opened it.
   */
  readonly keepsConnections?: boolean;
}

/** Neon: a single query is one HTTP request, and a transaction uses a WebSocket. */
export function createNeonDatabase(url: string, options: NeonOptions = {}): Database {
  configurePackage(options.endpoint);
  const { connectTimeoutMs, statementTimeoutMs } = { ...defaultTimeouts, ...options };
  const pool = new Pool({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(options.keepsConnections ? { max: 4, idleTimeoutMillis: 10_000 } : { max: Infinity, maxUses: 1 }),
  });
  const connections = toConnectionPool(pool, (client) => drizzleServerless({ client: client as Client }));
  return createPooledDatabase({ ...connections, sendOne }, options);

  /** A batch is one transaction: https://neon.com/docs/serverless/serverless-driver */
  async function sendOne<Result>(begin: readonly string[], query: (db: TenantDatabase) => PromiseLike<Result>) {
    const signal = AbortSignal.timeout(connectTimeoutMs + statementTimeoutMs + answerGraceMs);
    // The connection string is for nobody else: a redirect is not followed.
    const db = drizzleHttp({ client: neon(url, { fetchOptions: { redirect: "manual", signal } }) });
    // The driver's own types tell the dialects apart, and not the drivers.
    const batch = [...begin.map((statement) => db.execute(sql.raw(statement))), query(db)] as unknown;
    try {
      return (await db.batch(batch as [BatchItem<"pg">])).at(-1) as Result;
    } catch (error) {
      throw toDatabaseError(error);
    }
  }
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
