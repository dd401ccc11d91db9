import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { DatabaseError, Pool, type PoolClient } from "pg";
import { acceptWebSockets } from "./websocket_server.ts";

/**
 * A stand-in for the proxy before a Neon database, on loopback and before any Postgres: `POST /sql`, as in neondatabase/neon
 * `proxy/src/serverless/sql_over_http.rs`, and PostgreSQL's own protocol in a WebSocket at `/v2`.
 */
export interface NeonProxy {
  readonly port: number;
  readonly sqlEndpoint: string;
  /** The bodies of the requests from now on, in a list that grows. */
  watch(): readonly string[];
  /** WebSockets that were opened so far. */
  tunnels(): number;
  close(): Promise<void>;
}

/** The user, password and database are the connection string's; its host is not looked at. */
export async function startNeonProxy(target: { readonly host: string; readonly port: number }): Promise<NeonProxy> {
  const pools = new Map<string, Pool>();
  const watchers: string[][] = [];

  const server = createServer((request, response) => {
    void answerSql(request, response, poolOf, watchers);
  });
  let tunnels = 0;
  acceptWebSockets(server, { path: "/v2", target, onOpen: () => (tunnels += 1) });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot start the proxy: it has no port");
  const { port } = address;

  return {
    port,
    sqlEndpoint: `http://127.0.0.1:${port}/sql`,
    watch() {
      const bodies: string[] = [];
      watchers.push(bodies);
      return bodies;
    },
    tunnels: () => tunnels,
    async close() {
      server.close();
      server.closeAllConnections();
      await Promise.all(Array.from(pools.values(), (pool) => pool.end()));
    },
  };

  function poolOf(connectionString: string): Pool {
    const url = new URL(connectionString);
    const key = `${url.username}:${url.password}${url.pathname}`;
    const pool =
      pools.get(key) ??
      new Pool({
        ...target,
        user: decodeURIComponent(url.username),
        password: decodeURIComponent(url.password),
        database: url.pathname.slice(1),
        // As Neon pools them for an endpoint.
        max: 20,
      });
    pools.set(key, pool);
    pool.removeAllListeners("error").on("error", () => undefined);
    return pool;
  }
}

interface NeonQuery {
  readonly query: string;
  readonly params?: readonly unknown[];
}

async function answerSql(
  request: IncomingMessage,
  response: ServerResponse,
  poolOf: (url: string) => Pool,
  watchers: readonly string[][],
): Promise<void> {
  const send = (status: number, body: unknown) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const url = request.headers["neon-connection-string"];
  if (request.method !== "POST" || request.url !== "/sql" || typeof url !== "string") {
    send(400, { message: "query is not supported" });
    return;
  }
  try {
    const text = await readAll(request);
    for (const bodies of watchers) bodies.push(text);
    const body = JSON.parse(text) as NeonQuery | { readonly queries: readonly NeonQuery[] };
    const client = await poolOf(url).connect();
    // An error of the connection fails the query as well.
    const ignore = () => undefined;
    client.on("error", ignore);
    let isBroken = true;
    try {
      send(200, "queries" in body ? { results: await runBatch(client, body.queries) } : await runQuery(client, body));
      isBroken = false;
    } finally {
      client.off("error", ignore);
      client.release(isBroken);
    }
  } catch (error) {
    // 400 has the fields of PostgreSQL's error; a connection that cannot be had is a text with another status.
    if (error instanceof DatabaseError && !/^(08|28|3D|53|57P)/.test(error.code ?? "")) {
      send(400, Object.assign({ message: error.message }, error));
    } else {
      send(500, { message: "Control plane request failed" });
    }
  }
}

async function runBatch(client: PoolClient, queries: readonly NeonQuery[]): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  await client.query("begin");
  for (const query of queries) results.push(await runQuery(client, query));
  await client.query("commit");
  return results;
}

/** `Neon-Raw-Text-Output` and `Neon-Array-Mode`, which are always asked for. */
async function runQuery(client: PoolClient, { query, params = [] }: NeonQuery): Promise<unknown> {
  const result = await client.query({
    text: query,
    values: [...params],
    rowMode: "array" as const,
    types: { getTypeParser: () => (text: string) => text },
  });
  const { command, rowCount, rows, fields } = result;
  return { command, rowCount, rows, rowAsArray: true, fields: fields.map((field) => ({ ...field, format: "text" })) };
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
