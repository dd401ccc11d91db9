import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { SelfSigned } from "./self_signed.ts";

export interface ReceivedRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Whatever a webhook may be sent to, on a port of its own. */
export interface WebhookReceiver extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, or `https://`. */
  readonly url: string;
  readonly port: number;
  readonly received: readonly ReceivedRequest[];
  /** How many connections were made, also those that sent nothing. */
  readonly connections: () => number;
  /** Resolves when so many requests were received in all. */
  waitFor(count: number): Promise<readonly ReceivedRequest[]>;
}

type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

export interface ReceiverOptions {
  /** Default: 204 at once. */
  readonly answer?: Answer;
  readonly tls?: SelfSigned;
  readonly host?: string;
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<WebhookReceiver> {
  const { answer = (response) => response.writeHead(204).end(), tls, host = "127.0.0.1" } = options;
  const received: ReceivedRequest[] = [];
  const waiting = new Set<() => void>();
  let connections = 0;
  const server = tls === undefined ? createServer() : createTlsServer({ cert: tls.cert, key: tls.key });
  server.on("connection", () => (connections += 1));
  const receive = async (incoming: IncomingMessage, response: ServerResponse) => {
    incoming.setEncoding("utf8");
    let body = "";
    for await (const text of incoming) body += text;
    const request = { method: incoming.method, path: incoming.url, headers: incoming.headers, body };
    received.push(request);
    for (const check of waiting) check();
    answer(response, request);
  };
  server.on("request", (incoming, response) => void receive(incoming, response));
  await new Promise<void>((done) => server.listen(0, host, done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://${host}:${port}`,
    port,
    received,
    connections: () => connections,
    async waitFor(count) {
      await new Promise<void>((resolve) => {
        const check = () => {
          if (received.length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      });
      return received;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
