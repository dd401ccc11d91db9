import { Redis, type RedisOptions } from "ioredis";
import type { LostReason } from "../broker.ts";
import { resetSocket } from "../reset_socket.ts";
import { isTimeout, withTimeout } from "../with_timeout.ts";
import type { RedisAddress } from "./redis_url.ts";
import { serverFailure } from "./unavailable.ts";

export interface RedisSettings {
  readonly address: RedisAddress;
  /** `EVENTSTREAM_CACHE_DB`. */
  readonly database: number;
  /** Bound on a connect, and on the answer to one command. Default 5,000. */
  readonly timeoutMs: number;
  /** A subscriber connection that was idle for this long is sent a PING. Default 5,000. */
  readonly pingEveryMs: number;
  /** How long its answer may take. Default 10,000. */
  readonly pingTimeoutMs: number;
}

/**
 * One TCP connection to Redis that is never repaired. Connects at once. `onClosed` is called exactly once, also when it never
 * became ready.
 */
export function openRedisConnection(settings: RedisSettings, onClosed: (reason: LostReason) => void) {
  const { database, timeoutMs } = settings;
  const { access, kind } = settings.address;
  const facts = { server: "Redis", timeoutMs, secrets: [access.password ?? ""], refusals };
  const redis = new Redis({
    ...toClientOptions(settings),
    ...access,
    db: database,
    keepAlive: 10_000,
    protocol: 2,
    replyMapping: "legacy",
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
    /**
     * Sends in the order of the calls; rejects with `AppError("unavailable")`. No answer in time drops the connection: what
     * was sent on it must not take effect after it was reported as failed.
     */
    async send<Result>(action: string, command: (redis: Redis) => Promise<Result>): Promise<Result> {
      try {
        return await withCommandTimeout(command(await ready));
      } catch (error) {
        // Its commands fail before the client emits `end`: an immediate retry must not get this connection again.
        if (redis.status !== "ready") close("ended");
        throw serverFailure(action, fault ?? error, facts);
      }
    },
    drop,
  };

  async function connect(): Promise<Redis> {
    try {
      await withCommandTimeout(redis.connect());
      if (kind === "sentinel") await requirePrimary();
    } catch (error) {
      drop("cut");
      throw fault ?? error;
    }
    // The client goes on to "ready" also after Redis refused a part of the handshake.
    if (isClosed) throw fault ?? new Error("the connection was closed");
    return redis;
  }

  /** A replica takes what is published, for its own subscribers only; a sentinel that lags behind may still name one. */
  async function requirePrimary(): Promise<void> {
    const [role] = await withCommandTimeout(redis.role());
    if (String(role) !== "master") throw new Error(`the server is a ${String(role)}: expected the primary`);
  }

  async function withCommandTimeout<Result>(answer: Promise<Result>): Promise<Result> {
    try {
      return await withTimeout(answer, timeoutMs);
    } catch (error) {
      if (isTimeout(error)) drop("silent");
      throw error;
    }
  }

  function drop(reason: LostReason = "ended"): void {
    if (isClosed) return;
    // The client would close it gracefully, after which the system refuses a reset.
    if (redis.stream === undefined) redis.disconnect();
    else reset(redis.stream);
    close(reason);
  }

  function close(reason: LostReason): void {
    if (isClosed) return;
    isClosed = true;
    // Ends the client's connections to the sentinels.
    if (kind === "sentinel") redis.disconnect();
    onClosed(reason);
  }
}

const refusals = [
  [/^(WRONGPASS|NOAUTH)|AUTH|invalid password/, "refused the user or password (REDIS_URL)"],
  [/^NOPERM/, "does not allow this user the command or channel (REDIS_URL)"],
  [/DB index|SELECT/, "has no such database (EVENTSTREAM_CACHE_DB): expected one that it has"],
] as const;

function toClientOptions({ address, timeoutMs }: RedisSettings): RedisOptions {
  if (address.kind === "single") return { ...address.endpoint, connectTimeout: timeoutMs };
  const { access, endpoints, name } = address;
  // Each sentinel that does not answer takes its part of the time, and one part is left for the primary.
  const connectTimeout = timeoutMs / (endpoints.length + 1);
  return {
    sentinels: [...endpoints],
    name,
    // With a user's name, sentinels without a password accept any; with a password alone they refuse it.
    ...(access.password && { sentinelUsername: access.username ?? "default", sentinelPassword: access.password }),
    ...(access.tls && { sentinelTLS: access.tls, enableTLSForSentinelMode: true }),
    sentinelRetryStrategy: () => null,
    sentinelCommandTimeout: connectTimeout,
    connectTimeout,
    // A primary that was cut off from the sentinels would go on alone: the client hears of the new one, and disconnects.
    failoverDetector: true,
    disconnectTimeout: 100,
  };
}

/** A reset, not a graceful close: what the kernel still buffers must not be delivered after its sender gave up. */
function reset(stream: Redis["stream"]): void {
  // A TLS socket has no separate reset, nor has every runtime's TCP socket.
  const canReset = !("encrypted" in stream) && "resetAndDestroy" in stream;
  // While connecting a reset would wait for the connect, which may never come.
  if (stream.connecting || !canReset) stream.destroy();
  else resetSocket(stream);
}
