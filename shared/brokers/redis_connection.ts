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
   * was sent on it must not take effect after it was reported as failed.
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

/** Connects at once. `onClosed` is called exactly once, also when it never became ready. */
export function openRedisConnection(
  settings: RedisConnectionSettings,
  onClosed: (reason: LostReason) => void,
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
  let isClosed = false;
  redis.on("error", (error: Error) => {
    fault ??= error;
    // Not every fault ends the connection: what Redis refused while connecting, and what the parser could not read, would
    // leave it open and wrong. The operating system's errors have a code.
    drop("code" in error ? "cut" : "garbage");
  });
  redis.once("end", () => close("ended"));
  const ready = connect();
  // `send` reports it; where nothing is sent, it must not be an unhandled rejection.
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
        return await withCommandTimeout(command(connected));
      } catch (error) {
        // Its commands fail before the client emits `end`: an immediate retry must not get this connection again.
        if (connected.status !== "ready") close("ended");
        throw toFailure(action, fault ?? error);
      }
    },
    drop: (reason = "ended") => drop(reason),
  };

  async function connect(): Promise<Redis> {
    try {
      await withCommandTimeout(redis.connect());
    } catch (error) {
      drop("cut");
      throw fault ?? error;
    }
    // The client goes on to "ready" also after Redis refused a part of the handshake.
    if (isClosed) throw fault ?? new Error("the connection was closed");
    return redis;
  }

  async function withCommandTimeout<Result>(answer: Promise<Result>): Promise<Result> {
    try {
      return await withTimeout(answer, timeoutMs, () => new CommandTimeout(`no answer within ${timeoutMs} ms`));
    } catch (error) {
      if (error instanceof CommandTimeout) drop("silent");
      throw error;
    }
  }

  function drop(reason: LostReason): void {
    if (isClosed) return;
    // The client would close it gracefully, after which the system refuses a reset.
    if (redis.stream === undefined) redis.disconnect();
    else reset(redis.stream);
    close(reason);
  }

  function close(reason: LostReason): void {
    if (isClosed) return;
    isClosed = true;
    onClosed(reason);
  }

  function toFailure(action: string, error: unknown): AppError {
    return unavailable(`Cannot ${action}: Redis ${faultOf(error, timeoutMs)}`, {
      cause: error,
      secrets,
      retryAfterSeconds: isRefusal(error) ? 30 : 2,
    });
  }
}

class CommandTimeout extends Error {}

/** A reset, not a graceful close: what the kernel still buffers must not be delivered after its sender gave up. */
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
  const text = error instanceof Error ? error.message : "";
  if (error instanceof CommandTimeout) return `did not answer within ${timeoutMs / 1000} s`;
  if (/^(WRONGPASS|NOAUTH)|AUTH|invalid password/.test(text)) return "refused the user or password (REDIS_URL)";
  if (text.startsWith("NOPERM")) return "does not allow this user the command or channel (REDIS_URL)";
  if (/DB index|SELECT/.test(text)) return "has no such database (EVENTSTREAM_CACHE_DB): expected one that it has";
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
