import type { Broker } from "../broker.ts";
import { channelKeys } from "./channel_key.ts";
import { createBroker } from "./create_broker.ts";
import { openRedisConnection, type RedisSettings } from "./redis_connection.ts";
import { openSubscriberConnection } from "./redis_subscriber.ts";
import { parseRedisUrl } from "./redis_url.ts";
import { parseOption } from "./service_url.ts";

export interface RedisBrokerOptions extends Partial<Omit<RedisSettings, "address">> {
  /** `REDIS_URL`: a server or sentinels (`redis_url.ts`). A database number in it does not count. */
  readonly url: string;
  readonly database: number;
}

/**
 * Redis pub/sub over TCP, for Node and Deno: one connection to publish and one for all subscriptions, each opened when it is needed.
 *
 * No connection is ever repaired: a gap would go unseen. It is dropped, with a reset, so that nothing of it can still
 * arrive later; its subscriptions are lost, and the next call opens a new one.
 */
export function createRedisBroker(options: RedisBrokerOptions): Broker {
  const { database, timeoutMs = 5000, pingEveryMs = 5000, pingTimeoutMs = 10_000 } = options;
  const toKey = channelKeys(database);
  const address = parseOption("url (REDIS_URL)", options.url, parseRedisUrl);
  const settings = { address, database, timeoutMs, pingEveryMs, pingTimeoutMs };
  const commands = openedWhenNeeded((onClosed) => openRedisConnection(settings, onClosed));
  const subscriber = openedWhenNeeded((onClosed) => openSubscriberConnection(settings, onClosed));

  return createBroker({
    async publish(channel, message) {
      await commands.get().send("publish", (redis) => redis.publish(toKey(channel), message));
    },
    openChannel: (channel, handlers, signal) => subscriber.get().open(toKey(channel), handlers, signal),
    close() {
      subscriber.drop();
      commands.drop();
    },
  });
}

/** A connection that is opened when it is needed, and again after it was closed. */
function openedWhenNeeded<Connection extends { drop(): void }>(open: (onClosed: () => void) => Connection) {
  let current: Connection | null = null;
  return {
    get: () => (current ??= open(() => (current = null))),
    drop: () => current?.drop(),
  };
}
