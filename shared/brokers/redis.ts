import type { Redis } from "ioredis";
import type { Broker } from "../broker.ts";
import { requireDatabase, toChannelKey } from "./channel_key.ts";
import { maxMessageBytes, pingMessage, requireMessage } from "./message.ts";
import {
  openRedisConnection,
  parseRedisUrl,
  type RedisConnection,
  type RedisConnectionSettings,
} from "./redis_connection.ts";
import { createSharedSubscriptions, type ChannelListener, type ChannelSource } from "./shared_subscriptions.ts";
import { brokerClosed, tooManyWaiting } from "./unavailable.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

export interface RedisBrokerOptions {
  /** `REDIS_URL`: `redis://` or, for TLS, `rediss://`. A database number in it does not count. */
  readonly url: string;
  /** `EVENTSTREAM_CACHE_DB`. */
  readonly database: number;
  /** Bound on a connect, and on the answer to one command. Default 5,000. */
  readonly timeoutMs?: number;
  /** A subscriber connection that was idle for this long is sent a PING. Default 5,000. */
  readonly pingEveryMs?: number;
  /** How long its answer may take. Default 10,000. */
  readonly pingTimeoutMs?: number;
}

interface SubscriberSettings extends RedisConnectionSettings {
  readonly pingEveryMs: number;
  readonly pingTimeoutMs: number;
}

/**
 * Received without the end of a message or answer: over this, the server sends more than is kept in memory. As much as Redis
 * itself buffers for a subscriber (`client-output-buffer-limit pubsub 32mb`), so that a message which is too long, but which
 * Redis hands over, costs its own channel only.
 */
const maxUnreadBytes = 32 * maxMessageBytes;

/** Published but not yet acknowledged: over this, a publisher that does not await is refused. */
const maxPendingChars = 16_000_000;

/**
 * Redis pub/sub over TCP, for Node and Deno: one connection to publish, one for all subscriptions.
 *
 * No connection is ever repaired: a gap would go unseen. It is dropped, with a reset, so that nothing of it can still
 * arrive later; its subscriptions are lost, and the next call opens a new one.
 */
export function createRedisBroker(options: RedisBrokerOptions): Broker {
  requireDatabase(options.database);
  const { database, timeoutMs = 5000, pingEveryMs = 5000, pingTimeoutMs = 10_000 } = options;
  const endpoint = parseRedisUrl(options.url);
  const settings: SubscriberSettings = { endpoint, database, timeoutMs, pingEveryMs, pingTimeoutMs };
  let publisher: RedisConnection | null = null;
  let subscriber: SubscriberConnection | null = null;
  let pendingChars = 0;
  let isClosed = false;

  const subscriptions = createSharedSubscriptions((channel, listener) => {
    if (subscriber === null) {
      const opened = openSubscriberConnection(settings, () => {
        if (subscriber === opened) subscriber = null;
      });
      subscriber = opened;
    }
    return subscriber.open(toChannelKey(database, channel), listener);
  });

  return {
    async publish(channel, message) {
      requireMessage(message);
      requireOpen("publish");
      if (pendingChars > 0 && pendingChars + message.length > maxPendingChars) {
        throw tooManyWaiting();
      }
      pendingChars += message.length;
      try {
        await publisherConnection().send("publish", (redis) => redis.publish(toChannelKey(database, channel), message));
      } finally {
        pendingChars -= message.length;
      }
    },
    async subscribe(channels, handlers, signal) {
      await subscriptions.subscribe(channels, handlers, signal);
    },
    async ping() {
      requireOpen("ping");
      await publisherConnection().send("ping", (redis) => redis.ping());
    },
    async close() {
      isClosed = true;
      subscriptions.close();
      subscriber?.drop();
      publisher?.drop();
    },
  };

  function publisherConnection(): RedisConnection {
    if (publisher === null) {
      const opened = openRedisConnection(settings, () => {
        if (publisher === opened) publisher = null;
      });
      publisher = opened;
    }
    return publisher;
  }

  function requireOpen(action: string): void {
    if (isClosed) throw brokerClosed(action);
  }
}

interface SubscriberConnection {
  open(key: string, listener: ChannelListener): ChannelSource;
  drop(): void;
}

/** All subscriptions of the process on one connection; they are lost together. */
function openSubscriberConnection(settings: SubscriberSettings, onClosed: () => void): SubscriberConnection {
  const listeners = new Map<string, ChannelListener>();
  // The byte order mark is part of a message, and what is no UTF-8 must not become a message that looks like one.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let watchdog: Watchdog | null = null;
  let isClosed = false;

  const connection = openRedisConnection(settings, (reason) => {
    isClosed = true;
    watchdog?.stop();
    onClosed();
    const lost = Array.from(listeners.values());
    listeners.clear();
    for (const listener of lost) listener.onLost(reason);
  });
  connection.ready.then(listen, () => undefined);

  return {
    open(key, listener) {
      listeners.set(key, listener);
      return { confirmed: confirm(key, listener), close: () => unsubscribe(key, listener) };
    },
    drop: () => connection.drop(),
  };

  function listen(redis: Redis): void {
    if (isClosed) return;
    let unreadBytes = 0;
    redis.on("messageBuffer", (key: Uint8Array, message: Uint8Array) => {
      unreadBytes = 0;
      receive(decoder.decode(key), message);
    });
    watchdog = startWatchdog({
      idleMs: settings.pingEveryMs,
      graceMs: settings.pingTimeoutMs,
      onIdle: () =>
        // Its answer arrives as bytes; its failure ends the connection.
        void redis.ping().catch(() => undefined),
      onSilent: () => connection.drop("silent"),
    });
    redis.stream.on("data", (chunk: Uint8Array) => {
      // Bytes, not messages: on a slow line the answer to the PING waits behind a message that is still arriving.
      watchdog?.reset();
      // Other replies are short and end with their chunk: with a line break, as everything that Redis sends.
      unreadBytes = chunk.at(-2) === 13 && chunk.at(-1) === 10 ? 0 : unreadBytes + chunk.byteLength;
      if (unreadBytes > maxUnreadBytes) connection.drop("garbage");
    });
  }

  function receive(key: string, bytes: Uint8Array): void {
    const listener = listeners.get(key);
    if (listener === undefined) return;
    const message = bytes.byteLength <= maxMessageBytes ? decode(bytes) : null;
    if (message === null) {
      unsubscribe(key, listener);
      listener.onLost("garbage");
      return;
    }
    if (message !== pingMessage) listener.onMessage(message);
  }

  function decode(bytes: Uint8Array): string | null {
    try {
      return decoder.decode(bytes);
    } catch {
      return null;
    }
  }

  async function confirm(key: string, listener: ChannelListener): Promise<void> {
    await connection.send("subscribe", async (redis) => {
      // A subscriber that left before the connection was ready has nothing to confirm.
      if (listeners.get(key) === listener) await redis.subscribe(key);
    });
  }

  function unsubscribe(key: string, listener: ChannelListener): void {
    if (listeners.get(key) !== listener) return;
    listeners.delete(key);
    connection.send("unsubscribe", (redis) => redis.unsubscribe(key)).catch(() => undefined);
  }
}
