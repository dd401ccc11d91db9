import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Redis } from "ioredis";
import { refusalOf, runCommand, runTransaction, toCommand, type Command, type Reply } from "./upstash_commands.ts";

/**
 * An Upstash-compatible REST server in front of a real Redis (https://upstash.com/docs/redis/features/restapi), for tests
 * and for local Workers. Not built: `/monitor` and the RESP2 response format.
 */
export interface UpstashBridge {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  readonly token: string;
  readonly readOnlyToken: string;
  /** Subscription streams that are open now. */
  readonly streamCount: number;
  /** Subscription streams that were ever confirmed. */
  readonly openedStreamCount: number;
  /** The bodies of the requests from now on, in a list that grows. */
  watch(): readonly string[];
  /** How often a command was asked for, by its lower-case name. */
  commandCount(name: string): number;
  /** Resolves when as many subscription streams are open. */
  untilStreamCount(count: number): Promise<void>;
  /** Ends every subscription stream cleanly. */
  endStreams(): void;
  /** Writes raw bytes on every subscription stream, as an upstream that has gone wrong would. */
  writeRaw(bytes: Uint8Array | string): void;
  close(): Promise<void>;
}

export interface UpstashBridgeOptions {
  readonly redisUrl: string;
  readonly token?: string;
  readonly readOnlyToken?: string;
  /** Default: any free one. */
  readonly port?: number;
  /** How often a comment is sent on a subscription stream. Default: never, as nothing is documented. */
  readonly keepAliveMs?: number;
}

interface Context {
  readonly redisUrl: string;
  readonly redis: Redis;
  readonly keepAliveMs: number | null;
  readonly streams: Set<ServerResponse>;
  readonly counts: Map<string, number>;
  onStreamsChange(): void;
  onStreamOpen(): void;
}

class RequestError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const maxBodyBytes = 10_000_000;

export async function startUpstashBridge(options: UpstashBridgeOptions): Promise<UpstashBridge> {
  const { redisUrl, token = "local-token", readOnlyToken = "local-read-only-token" } = options;
  const redis = new Redis(redisUrl, { lazyConnect: true, enableOfflineQueue: false, protocol: 2 });
  redis.on("error", () => undefined);
  await redis.connect();

  const waiting = new Set<() => void>();
  const watchers: string[][] = [];
  let openedStreamCount = 0;
  let requestCount = 0;
  const context: Context = {
    redisUrl,
    redis,
    keepAliveMs: options.keepAliveMs ?? null,
    streams: new Set(),
    counts: new Map(),
    onStreamsChange() {
      for (const resolve of waiting) resolve();
      waiting.clear();
    },
    onStreamOpen: () => void (openedStreamCount += 1),
  };

  const server = createServer((request, response) => {
    requestCount += 1;
    response.setHeader("upstash-sync-token", `local-${requestCount}`);
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, error instanceof RequestError ? error.status : 500, { error: messageOf(error) });
    });
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot start the bridge: it has no port");

  return {
    host: "127.0.0.1",
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    token,
    readOnlyToken,
    get streamCount() {
      return context.streams.size;
    },
    get openedStreamCount() {
      return openedStreamCount;
    },
    watch() {
      const bodies: string[] = [];
      watchers.push(bodies);
      return bodies;
    },
    commandCount: (name) => context.counts.get(name) ?? 0,
    async untilStreamCount(count) {
      while (context.streams.size !== count) await new Promise<void>((resolve) => void waiting.add(resolve));
    },
    endStreams() {
      for (const stream of context.streams) stream.end();
    },
    writeRaw(bytes) {
      for (const stream of context.streams) stream.write(bytes);
    },
    async close() {
      server.close();
      server.closeAllConnections();
      redis.disconnect();
      await once(server, "close");
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://bridge");
    const isReadOnly = requireToken(request, url) === readOnlyToken;
    if (!["GET", "POST", "PUT", "HEAD"].includes(request.method ?? "")) {
      throw new RequestError(405, "ERR method not allowed: expected GET, POST, PUT or HEAD");
    }
    const [first = "", ...rest] = url.pathname.split("/").slice(1).map(decodeSegment);
    const body = await readBody(request);
    for (const bodies of watchers) bodies.push(body.toString());
    if (first === "subscribe" || first === "psubscribe") {
      const [channel = ""] = rest;
      if (channel === "") throw new RequestError(400, `ERR wrong number of arguments for '${first}' command`);
      await stream(context, response, { kind: first, channel });
      return;
    }
    if (redis.status !== "ready") throw new RequestError(503, "ERR the database is not reachable");
    const isBase64 = request.headers["upstash-encoding"] === "base64";
    if (request.headers["upstash-response-format"] === "resp2") {
      throw new RequestError(400, "ERR this bridge answers in JSON only");
    }
    const execute = async (command: Command): Promise<Reply> => {
      const refusal = await taken(command, isReadOnly);
      return refusal === null ? runCommand(redis, command, isBase64) : { error: refusal };
    };
    if (first === "pipeline") {
      // One after the other is in order as well, and keeps a refused command from overtaking.
      const replies: Reply[] = [];
      for (const command of parseCommands(body)) replies.push(await execute(command));
      sendJson(response, 200, replies);
      return;
    }
    if (first === "multi-exec") {
      const commands = parseCommands(body);
      for (const command of commands) {
        const refusal = await taken(command, isReadOnly);
        if (refusal !== null) throw new RequestError(400, refusal);
      }
      const replies = await runTransaction(redis, commands, isBase64).catch((error: unknown) => {
        throw new RequestError(400, messageOf(error));
      });
      sendJson(response, 200, replies);
      return;
    }
    const reply = await execute(first === "" ? parseCommand(body) : commandOf([first, ...rest], body, url));
    sendJson(response, "error" in reply ? 400 : 200, reply);
  }

  function requireToken(request: IncomingMessage, url: URL): string {
    const header = /^Bearer\s+(.+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const given = header ?? url.searchParams.get("_token");
    if (given === token || given === readOnlyToken) return given;
    throw new RequestError(401, "WRONGPASS invalid or missing auth token");
  }

  async function taken(command: Command, isReadOnly: boolean): Promise<string | null> {
    const name = command[0].toLowerCase();
    context.counts.set(name, (context.counts.get(name) ?? 0) + 1);
    return refusalOf(redis, command, isReadOnly);
  }
}

interface Subscription {
  readonly kind: "subscribe" | "psubscribe";
  readonly channel: string;
}

/** One stream has one connection to Redis: their numbers are the same, and neither outlives the other. */
async function stream(context: Context, response: ServerResponse, { kind, channel }: Subscription): Promise<void> {
  const redis = new Redis(context.redisUrl, { lazyConnect: true, retryStrategy: () => null, protocol: 2 });
  redis.on("error", () => undefined);
  const isGone = () => response.destroyed || response.writableEnded;
  response.once("close", () => {
    redis.disconnect();
    context.streams.delete(response);
    context.onStreamsChange();
  });
  try {
    await redis.connect();
  } catch {
    throw new RequestError(503, "ERR the database is not reachable");
  }
  if (isGone()) return redis.disconnect();
  redis.once("end", () => response.end());
  // A message in the same packet as the confirmation is handed out before the promise of it; its frame must come after.
  let held: string[] | null = [];
  const send = (frame: string) => void (held === null ? write(response, toFrame(frame)) : held.push(frame));
  redis.on("message", (_, message) => send(`message,${channel},${message}`));
  redis.on("pmessage", (pattern, from, message) => send(`pmessage,${pattern},${from},${message}`));
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  context.streams.add(response);
  const confirmed = kind === "subscribe" ? redis.subscribe(channel) : redis.psubscribe(channel);
  await confirmed;
  if (isGone()) return;
  response.write(toFrame(`${kind},${channel},1`) + held.map(toFrame).join(""));
  held = null;
  context.onStreamOpen();
  context.onStreamsChange();
  keepAlive(response, context.keepAliveMs);
}

function keepAlive(response: ServerResponse, keepAliveMs: number | null): void {
  if (keepAliveMs === null) return;
  const timer = setInterval(() => write(response, ": keep-alive\n\n"), keepAliveMs);
  response.once("close", () => clearInterval(timer));
}

/** A response that was ended is still open until its last bytes are gone. */
function write(response: ServerResponse, frame: string): void {
  if (!response.writableEnded) response.write(frame);
}

/** A line break in a message becomes a second `data:` line, which is how the format carries one. */
function toFrame(text: string): string {
  return `data: ${text.replaceAll("\n", "\ndata: ")}\n\n`;
}

/** `/set/key?EX=100&NX` with a body: the body is the last argument before those of the query. */
function commandOf(segments: readonly string[], body: Buffer, url: URL): Command {
  const [name = "", ...args] = segments;
  if (body.byteLength > 0) args.push(body.toString());
  for (const [key, value] of url.searchParams) {
    if (key === "_token") continue;
    args.push(key);
    if (value !== "") args.push(value);
  }
  return [name, ...args];
}

function parseCommand(body: Buffer): Command {
  return parse(body, toCommand);
}

function parseCommands(body: Buffer): readonly Command[] {
  return parse(body, (value) => {
    if (!Array.isArray(value)) throw new TypeError("ERR failed to parse pipeline: expected an array of commands");
    return value.map(toCommand);
  });
}

function parse<Value>(body: Buffer, toValue: (value: unknown) => Value): Value {
  try {
    return toValue(JSON.parse(body.toString()));
  } catch (error) {
    throw new RequestError(400, error instanceof TypeError ? error.message : "ERR failed to parse the body as JSON");
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > maxBodyBytes) throw new RequestError(413, `ERR max request size exceeded. Limit: ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new RequestError(400, "ERR the path is not valid");
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "ERR unknown";
}
