import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Client, DatabaseError } from "pg";
import { createWebSocketStream, WebSocketServer } from "ws";
import { listen } from "./listen.ts";

/**
 * A stand-in for the proxy before a Neon database, on loopback and before any Postgres: `POST /sql`, as in neondatabase/neon
 * `proxy/src/serverless/sql_over_http.rs`, and PostgreSQL's own protocol in a WebSocket at `/v2`. The user, password and database
 * are the connection string's; its host is not looked at.
 */
export async function startNeonProxy(target: { readonly host: string; readonly port: number }) {
  let watched: string[] | null = null;
  let tunnels = 0;
  let closesTunnels = false;

  const server = createServer((request, response) => void answer(request, response));
  const webSockets = new WebSocketServer({ server, path: "/v2", perMessageDeflate: false });
  webSockets.on("connection", (webSocket) => {
    tunnels += 1;
    if (closesTunnels) return webSocket.close();
    const [client, upstream] = [createWebSocketStream(webSocket), connect(target)];
    client.on("error", () => upstream.destroy()).on("close", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  const { port, url, close } = await listen(server);

  return {
    port,
    sqlEndpoint: `${url}/sql`,
    /** The bodies of the requests from now on, in a list that grows. */
    watch: (): readonly string[] => (watched = []),
    /** True: WebSockets are closed as soon as they are open. */
    closeTunnels: (isClosing: boolean) => void (closesTunnels = isClosing),
    /** WebSockets that were opened so far. */
    tunnels: () => tunnels,
    async close() {
      for (const webSocket of webSockets.clients) webSocket.terminate();
      await close();
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const connectionString = request.headers["neon-connection-string"];
    if (request.method !== "POST" || request.url !== "/sql" || typeof connectionString !== "string") {
      send(400, { message: "query is not supported" });
      return;
    }
    try {
      const body = await text(request);
      watched?.push(body);
      const { username, password, pathname } = new URL(connectionString);
      const [user, secret] = [username, password].map(decodeURIComponent);
      const client = new Client({ ...target, user, password: secret, database: pathname.slice(1) });
      // An error of the connection fails the query as well.
      client.on("error", () => undefined);
      try {
        await client.connect();
        send(200, await run(client, JSON.parse(body)));
      } finally {
        await client.end();
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
}

interface NeonQuery {
  readonly query: string;
  readonly params?: readonly unknown[];
}

/** A batch; the gateway sends nothing else. */
async function run(client: Client, { queries }: { readonly queries: readonly NeonQuery[] }): Promise<unknown> {
  const results: unknown[] = [];
  await client.query("begin");
  for (const query of queries) results.push(await runQuery(client, query));
  await client.query("commit");
  return { results };
}

/** `Neon-Raw-Text-Output` and `Neon-Array-Mode`, which are always asked for. */
async function runQuery(client: Client, { query, params = [] }: NeonQuery): Promise<unknown> {
  const result = await client.query({
    text: query,
    values: [...params],
    rowMode: "array" as const,
    types: { getTypeParser: () => (value: string) => value },
  });
  const { command, rowCount, rows, fields } = result;
  return { command, rowCount, rows, rowAsArray: true, fields: fields.map((field) => ({ ...field, format: "text" })) };
}
