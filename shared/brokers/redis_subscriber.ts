import type { Redis } from "ioredis";
import { maxMessageBytes, pingMessage } from "./message.ts";
import { openRedisConnection, type RedisConnectionSettings } from "./redis_connection.ts";
import type { ChannelListener, ChannelSource } from "./shared_subscriptions.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

export interface SubscriberSettings extends RedisConnectionSettings {
  readonly pingEveryMs: number;
  readonly pingTimeoutMs: number;
  /** For a cluster: a channel belongs to one slot, and with it to one node at a time. */
  readonly isSharded: boolean;
}

/**
 * Received without the end of a message or answer: over this, the server sends more than is kept in memory. As much as Redis
 * itself buffers for a subscriber (`client-output-buffer-limit pubsub 32mb`), so that a message which is too long, but which
 * Redis hands over, costs its own channel only.
 */
const maxUnreadBytes = 32 * maxMessageBytes;

export interface SubscriberConnection {
  open(key: string, listener: ChannelListener): ChannelSource;
  drop(): void;
}

/** All subscriptions of the process at one server, on one connection; they are lost together. */
export function openSubscriberConnection(settings: SubscriberSettings, onClosed: () => void): SubscriberConnection {
  const { isSharded } = settings;
  const listeners = new Map<string, ChannelListener>();
  // The byte order mark is part of a message, and what is no UTF-8 must not become a message that looks like one.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let watchdog: Watchdog | null = null;
  let moveCount = 0;
  let handledMoveCount = 0;
  let isClosed = false;

  const gate = createGate();
  const confirmed = new Map<string, ChannelListener>();

  // Sharded, what the server pushes when a slot moves must not be taken for the answer to a command.
  const connection = openRedisConnection({ ...settings, protocol: isSharded ? 3 : 2 }, (reason) => {
    isClosed = true;
    watchdog?.stop();
    onClosed();
    const lost = Array.from(listeners.values());
    listeners.clear();
    confirmed.clear();
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
    redis.on("moved", () => noteMoved(redis));
    redis.on(isSharded ? "smessageBuffer" : "messageBuffer", (key: Uint8Array, message: Uint8Array) => {
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

  /** One of these comes for each channel: all of the same bytes are looked for at once. */
  function noteMoved(redis: Redis): void {
    moveCount += 1;
    if (moveCount === handledMoveCount + 1) queueMicrotask(() => loseMoved(redis));
  }

  /** The server has ended subscriptions: their slots are another node's now. */
  function loseMoved(redis: Redis): void {
    handledMoveCount = moveCount;
    const open = subscriptionsOf(redis);
    for (const [key, listener] of Array.from(confirmed)) {
      if (open.has(key)) continue;
      confirmed.delete(key);
      if (listeners.get(key) !== listener) continue;
      listeners.delete(key);
      listener.onLost("ended");
    }
  }

  async function confirm(key: string, listener: ChannelListener): Promise<void> {
    await gate.share(() =>
      connection.send("subscribe", async (redis) => {
        // A subscriber that left before the connection was ready has nothing to confirm.
        if (listeners.get(key) !== listener) return;
        const movesBefore = moveCount;
        await (isSharded ? redis.ssubscribe(key) : redis.subscribe(key));
        if (!isSharded) return;
        // Its slot may have moved with the next bytes already.
        if (moveCount !== movesBefore && !subscriptionsOf(redis).has(key))
          throw new Error("the slot of the channel moved");
        confirmed.set(key, listener);
      }),
    );
  }

  function unsubscribe(key: string, listener: ChannelListener): void {
    if (listeners.get(key) !== listener) return;
    listeners.delete(key);
    confirmed.delete(key);
    const ended = isSharded
      ? // Where its slot is moving away, the server answers twice: nothing else may be taken for answered by that.
        gate.exclude(() => connection.send("unsubscribe", (redis) => redis.sunsubscribe(key)))
      : connection.send("unsubscribe", (redis) => redis.unsubscribe(key));
    ended.catch(() => undefined);
  }
}

/** As the client counts them by what the server has confirmed and ended. */
function subscriptionsOf(redis: Redis): ReadonlySet<string> {
  const subscriber = redis.condition?.subscriber;
  return new Set(subscriber === undefined || subscriber === false ? [] : subscriber.channels("ssubscribe"));
}

/** Shared calls run at the same time; exclusive ones after all that came before, and before all that come after. */
function createGate() {
  let excluded: Promise<unknown> = Promise.resolve();
  let shared: Promise<unknown> = Promise.resolve();

  return {
    share<Result>(call: () => Promise<Result>): Promise<Result> {
      const result = excluded.then(call);
      shared = Promise.allSettled([shared, result]);
      return result;
    },
    exclude<Result>(call: () => Promise<Result>): Promise<Result> {
      const result = Promise.allSettled([excluded, shared]).then(call);
      excluded = result.catch(() => undefined);
      return result;
    },
  };
}
