import type { Redis } from "ioredis";
import type { SubscriptionHandlers } from "../broker.ts";
import { maxMessageBytes, pingMessage } from "./message.ts";
import { openRedisConnection, type RedisSettings } from "./redis_connection.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

/**
 * Received without the end of a message or answer: over this, the server sends more than is kept in memory. As much as Redis
 * itself buffers for a subscriber (`client-output-buffer-limit pubsub 32mb`), so that a message which is too long, but which
 * Redis hands over, costs its own channel only.
 */
const maxUnreadBytes = 32 * maxMessageBytes;

/** All subscriptions of the process at one server, on one connection; they are lost together. */
export function openSubscriberConnection(settings: RedisSettings, onClosed: () => void) {
  const listeners = new Map<string, Set<SubscriptionHandlers>>();
  // The byte order mark is part of a message, and bytes that are not UTF-8 must not become a message that looks valid.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let watchdog: Watchdog | null = null;
  let isClosed = false;

  const connection = openRedisConnection(settings, (reason) => {
    isClosed = true;
    watchdog?.stop();
    onClosed();
    const lost = Array.from(listeners.values(), (ofKey) => Array.from(ofKey)).flat();
    listeners.clear();
    for (const listener of lost) listener.onLost(reason);
  });
  connection.ready.then(listen, () => undefined);

  return {
    async open(key: string, listener: SubscriptionHandlers, signal: AbortSignal): Promise<void> {
      listeners.set(key, (listeners.get(key) ?? new Set()).add(listener));
      signal.addEventListener("abort", () => unsubscribe(key, listener), { once: true });
      await connection.send("subscribe", async (redis) => {
        // A subscriber that left before the connection was ready has nothing to confirm.
        if (listeners.get(key)?.has(listener) === true) await redis.subscribe(key);
      });
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
    const message = decode(bytes);
    for (const listener of Array.from(listeners.get(key) ?? [])) {
      if (message === null) listener.onLost("garbage");
      else if (message !== pingMessage) listener.onMessage(message);
    }
  }

  function decode(bytes: Uint8Array): string | null {
    try {
      return bytes.byteLength <= maxMessageBytes ? decoder.decode(bytes) : null;
    } catch {
      return null;
    }
  }

  function unsubscribe(key: string, listener: SubscriptionHandlers): void {
    const ofKey = listeners.get(key);
    if (ofKey?.delete(listener) !== true || ofKey.size > 0) return;
    listeners.delete(key);
    connection.send("unsubscribe", (redis) => redis.unsubscribe(key)).catch(() => undefined);
  }
}
