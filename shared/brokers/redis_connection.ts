import { Redis } from "ioredis";
import type { AppError } from "../app_error.ts";
import type { LostReason } from "../broker.ts";
import { withTimeout } from "../with_timeout.ts";
import { unavailable } from "./unavailable.ts";

/** One TCP connection to Redis that is never repaired. */
export interface RedisConnection {
  readonly ready: Promise<Redis>;
  /**
   * Sends in the order of the calls; rejects with `AppError("unavailable")`. No answer in time drops the connection: what
   * was sent on it must not take effect after its sender was told that it failed.
   */
  send<Result>(action: string, command: (redis: Redis) => Promise<Result>): Promise<Result>;
  drop(reason?: LostReason): void;
}

export interface RedisConnectionSettings {
  readonly endpoint: RedisEndpoint;
  readonly database: number;
  /** Bound on the connect, and on the answer to one command. */
  readonly timeoutMs: number;
}

/** Connects at once. `onOver` is called exactly once, also when it never became ready. */
export function openRedisConnection(
  settings: RedisConnectionSettings,
  onOver: (reason: LostReason) => void,
): RedisConnection {
  const { endpoint, database, timeoutMs } = settings;
  const secrets = [endpoint.password ?? ""];
  const redis = new Redis({
    ...endpoint,
    db: database,
    connectTimeout: timeoutMs,
    keepAlive: 10_000,
    protocol: 2,
    retryStrategy: () => null,
    maxRetriesPerRequest: null,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    lazyConnect: true,
  });
  let fault: Error | null = null;
  let isOver = false;
  redis.on("error", (error: Error) => {
    fault ??= error;
    // Not every fault ends the connection: what Redis refused while connecting, and what the parser could not read, would
    // leave it open and wrong. The operating system's errors have a code.
    drop("code" in error ? "cut" : "garbage");
  });
  redis.once("end", () => over("ended"));
  const ready = connect();
  // Whoever sends is told; without anybody who does, it is no unhandled rejection.
  ready.catch(() => undefined);

  return {
    ready,
    async send(action, command) {
      let connected: Redis;
      try {
        connected = await ready;
      } catch (error) {
        throw toFailure(action, error);
      }
      try {
        return await answerInTime(command(connected));
      } catch (error) {
        // Its commands fail before the client tells that it ended: who tries again at once must not meet it again.
        if (connected.status !== "ready") over("ended");
        throw toFailure(action, fault ?? error);
      }
    },
    drop: (reason = "ended") => drop(reason),
  };

  async function connect(): Promise<Redis> {
    try {
      await answerInTime(redis.connect());
    } catch (error) {
      drop("cut");
      throw fault ?? error;
    }
    // The client goes on to "ready" also after Redis refused a part of the handshake.
    if (isOver) throw fault ?? new Error("the connection was closed");
    return redis;
  }

  async function answerInTime<Result>(answer: Promise<Result>): Promise<Result> {
    try {
      return await withTimeout(answer, timeoutMs, () => new NoAnswer(`no answer within ${timeoutMs} ms`));
    } catch (error) {
      if (error instanceof NoAnswer) drop("silent");
      throw error;
    }
  }

  function drop(reason: LostReason): void {
    if (isOver) return;
    // The client itself would end it politely, after which the system refuses a reset.
    if (redis.stream === undefined) redis.disconnect();
    else reset(redis.stream);
    over(reason);
  }

  function over(reason: LostReason): void {
    if (isOver) return;
    isOver = true;
    onOver(reason);
  }

  function toFailure(action: string, error: unknown): AppError {
    return unavailable(`Cannot ${action}: Redis ${faultOf(error, timeoutMs)}`, {
      cause: error,
      secrets,
      retryAfterSeconds: isRefusal(error) ? 30 : 2,
    });
  }
}

class NoAnswer extends Error {}

/** A reset, not a polite end: what the kernel has not yet got through must not be delivered after its sender gave up. */
function reset(stream: Redis["stream"]): void {
  // While connecting a reset would wait for the connect, which may never come; once ended it fails and leaks the socket.
  if (stream.connecting || stream.writableEnded || !canReset(stream)) stream.destroy();
  else stream.resetAndDestroy();
}

/** A TLS socket has no reset of its own, nor has every runtime's TCP socket. */
function canReset(stream: Redis["stream"]): boolean {
  return !("encrypted" in stream) && "resetAndDestroy" in stream;
}

function faultOf(error: unknown, timeoutMs: number): string {
  const words = error instanceof Error ? error.message : "";
  if (error instanceof NoAnswer) return `did not answer within ${timeoutMs / 1000} s`;
  if (/^(WRONGPASS|NOAUTH)|AUTH|invalid password/.test(words)) return "refused the user or password (REDIS_URL)";
  if (words.startsWith("NOPERM")) return "does not allow this user the command or channel (REDIS_URL)";
  if (/DB index|SELECT/.test(words)) return "has no such database (EVENTSTREAM_CACHE_DB): expected one that it has";
  return "cannot be reached or does not serve";
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && /^(WRONGPASS|NOAUTH|NOPERM)|DB index/.test(error.message);
}

export interface RedisEndpoint {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: Record<string, never>;
}

/** Throws `TypeError` that never repeats the URL: it holds the password. */
export function parseRedisUrl(value: string): RedisEndpoint {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || (url.protocol !== "redis:" && url.protocol !== "rediss:") || url.hostname === "") {
    throw invalidUrl();
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? 6379 : Number(url.port),
    ...(url.username === "" ? {} : { username: decodeSegment(url.username) }),
    ...(url.password === "" ? {} : { password: decodeSegment(url.password) }),
    ...(url.protocol === "rediss:" ? { tls: {} } : {}),
  };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidUrl();
  }
}

function invalidUrl(): TypeError {
  return new TypeError(
    "Cannot make a broker: REDIS_URL is not valid: expected redis:// or rediss:// with host, port and password",
  );
}
