import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { Redis } from "ioredis";
import { listen } from "./listen.ts";

type Command = readonly [name: string, ...args: readonly string[]];
type Reply = { readonly result: unknown } | { readonly error: string };

/**
 * The part of Upstash's REST API that the broker uses (https://upstash.com/docs/redis/features/restapi), in front of a real Redis:
 * one command, a pipeline, and a subscription stream.
 */
export async function startUpstashBridge({ url: redisUrl }: { readonly url: string }) {
  const token = "AX8sASQgN2M5-the-token";
  const redis = new Redis(redisUrl, { lazyConnect: true, enableOfflineQueue: false, protocol: 2 });
  redis.on("error", () => undefined);
  await redis.connect();
  const streams = new Set<ServerResponse>();

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 503, { error: String(error) });
    });
  });
  const listening = await listen(server);

  return {
    ...listening,
    token,
    /** Subscription streams that are open now. */
    streamCount: () => streams.size,
    /** Ends every subscription stream cleanly. */
    endStreams() {
      for (const stream of streams) stream.end();
    },
    /** Writes raw bytes on every subscription stream, as an upstream that has gone wrong would. */
    writeRaw(bytes: Uint8Array | string) {
      for (const stream of streams) stream.write(bytes);
    },
    async close() {
      redis.disconnect();
      await listening.close();
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== `Bearer ${token}`) {
      return sendJson(response, 401, { error: "WRONGPASS invalid or missing auth token" });
    }
    const [, first, channel = ""] = (request.url ?? "").split("/").map(decodeURIComponent);
    if (first === "subscribe") return stream(response, channel);
    const body = await json(request);
    if (first !== "pipeline") {
      const reply = await execute(body as Command);
      return sendJson(response, "error" in reply ? 400 : 200, reply);
    }
    const replies: Reply[] = [];
    for (const command of body as readonly Command[]) replies.push(await execute(command));
    return sendJson(response, 200, replies);
  }

  async function execute([name, ...args]: Command): Promise<Reply> {
    return redis.call(name, args).then(
      (result) => ({ result }),
      (error: unknown) => ({ error: String(error) }),
    );
  }

  /** One stream has one connection to Redis: their numbers are the same, and neither outlives the other. */
  async function stream(response: ServerResponse, channel: string): Promise<void> {
    const subscriber = new Redis(redisUrl, { lazyConnect: true, retryStrategy: () => null, protocol: 2 });
    subscriber.on("error", () => undefined);
    response.once("close", () => {
      subscriber.disconnect();
      streams.delete(response);
    });
    await subscriber.connect();
    subscriber.once("end", () => response.end());
    if (response.destroyed) return subscriber.disconnect();
    // A message in the same packet as the confirmation is handed out before the promise of it; its frame must come after.
    let held: string[] | null = [];
    subscriber.on("message", (_, message) => {
      const frame = `data: message,${channel},${message}\n\n`;
      if (held !== null) held.push(frame);
      else if (!response.writableEnded) response.write(frame);
    });
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" }).flushHeaders();
    streams.add(response);
    await subscriber.subscribe(channel);
    if (response.destroyed || response.writableEnded) return;
    response.write(`data: subscribe,${channel},1\n\n${held.join("")}`);
    held = null;
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
