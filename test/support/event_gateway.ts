import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import { parseMessage } from "../../shared/event.ts";
import { encodeComment, encodeEventFrame, encodeRetry } from "../../shared/event_stream_encoding.ts";

/** A small server with the two routes of a gateway that carry events, and none of what guards them but the key. */
export interface EventGateway {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Event streams that are open on the channel. */
  streamCount(channel: string): number;
  /** Answers every request with this status and headers, until null. */
  answerWith(answer: CannedAnswer | null): void;
  /** Writes raw bytes on every open stream. */
  writeRaw(bytes: Uint8Array | string): void;
  close(): Promise<void>;
}

export interface CannedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface EventGatewayOptions {
  readonly apiKey: string;
  readonly heartbeatMs: number;
}

export async function startEventGateway(options: EventGatewayOptions): Promise<EventGateway> {
  const broker = createMemoryBroker();
  const streams = new Map<ServerResponse, string>();
  let canned: CannedAnswer | null = null;

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot start the gateway: it has no port");

  return {
    host: "127.0.0.1",
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    streamCount: (channel) => Array.from(streams.values()).filter((name) => channel.endsWith(`:${name}`)).length,
    answerWith(next) {
      canned = next;
    },
    writeRaw(bytes) {
      for (const response of streams.keys()) response.write(bytes);
    },
    async close() {
      await broker.close();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(request.url ?? "");
    if (canned !== null) {
      response.writeHead(canned.status, canned.headers).end(canned.body);
    } else if (path === "/readyz") {
      response.writeHead(200).end("{}");
    } else if (request.headers.authorization !== `Api-Key ${options.apiKey}`) {
      response.writeHead(401, { "content-type": "application/problem+json" });
      response.end(JSON.stringify({ detail: `unknown key ${request.headers.authorization}` }));
    } else {
      await route(request, response, path);
    }
  }

  async function route(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const channel = /^\/api\/v1\/channels\/([^/]+)\/events$/.exec(path)?.[1];
    const scan = /^\/api\/v1\/scans\/([^/]+)\/event-stream$/.exec(path)?.[1];
    if (channel !== undefined && request.method === "POST") {
      const message = await readText(request);
      const isEvent = parseMessage(message) !== null && request.headers["content-type"] === "application/json";
      // A stream is found by its resource alone, so that is what the event goes to.
      if (isEvent) await broker.publish(channel.split(":").at(-1) ?? "", message);
      response.writeHead(isEvent ? 202 : 422, { "content-type": "application/json" }).end("{}");
    } else if (scan !== undefined && request.method === "GET") {
      await openStream(response, scan);
    } else {
      response.writeHead(404).end();
    }
  }

  async function openStream(response: ServerResponse, scan: string): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => {
      gone.abort();
      streams.delete(response);
    });
    await broker.subscribe(
      [scan],
      {
        onMessage(_, message) {
          const event = parseMessage(message);
          if (event !== null) write(response, encodeEventFrame(event));
        },
        onLost: () => void response.end(encodeComment("close lost")),
      },
      gone.signal,
    );
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
    response.write(encodeRetry(2000) + encodeComment("open"));
    streams.set(response, scan);
    const heartbeat = setInterval(() => write(response, encodeComment("heartbeat")), options.heartbeatMs);
    gone.signal.addEventListener("abort", () => clearInterval(heartbeat), { once: true });
  }
}

/** A response that was ended is still open until its last bytes are gone. */
function write(response: ServerResponse, frame: string): void {
  if (!response.writableEnded) response.write(frame);
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
