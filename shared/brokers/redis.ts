import type { Broker } from "../broker.ts";
import { InvalidSetting } from "../environment_reader.ts";
import { requireDatabase, toChannelKey } from "./channel_key.ts";
import { requireMessage } from "./message.ts";
import { createRedisCluster } from "./redis_cluster.ts";
import type { NatMap } from "./redis_connection.ts";
import { createRedisNode, type RedisServers } from "./redis_node.ts";
import { parseRedisUrl, type RedisAddress } from "./redis_url.ts";
import { createSharedSubscriptions } from "./shared_subscriptions.ts";
import { brokerClosed, tooManyWaiting } from "./unavailable.ts";

export interface RedisBrokerOptions {
  /** `REDIS_URL`: a server, a cluster or sentinels (`redis_url.ts`). A database number in it does not count. */
  readonly url: string;
  /** `EVENTSTREAM_CACHE_DB`. */
  readonly database: number;
  /** Bound on a connect, and on the answer to one command. Default 5,000. */
  readonly timeoutMs?: number;
  /** A subscriber connection that was idle for this long is sent a PING. Default 5,000. */
  readonly pingEveryMs?: number;
  /** How long its answer may take. Default 10,000. */
  readonly pingTimeoutMs?: number;
  /** For nodes of a cluster, and primaries that sentinels name. */
  readonly natMap?: NatMap;
}

/** Published but not yet acknowledged: over this, a publisher that does not await is refused. */
const maxPendingChars = 16_000_000;

/**
 * Redis pub/sub over TCP, for Node and Deno: at each server one connection to publish, one for all subscriptions.
 *
 * No connection is ever repaired: a gap would go unseen. It is dropped, with a reset, so that nothing of it can still
 * arrive later; its subscriptions are lost, and the next call opens a new one.
 */
export function createRedisBroker(options: RedisBrokerOptions): Broker {
  requireDatabase(options.database);
  const { database } = options;
  const servers = createServers(options);
  let pendingChars = 0;
  let isClosed = false;

  const subscriptions = createSharedSubscriptions((channel, listener) =>
    servers.open(toChannelKey(database, channel), listener),
  );

  return {
    async publish(channel, message) {
      requireMessage(message);
      requireOpen("publish");
      if (pendingChars > 0 && pendingChars + message.length > maxPendingChars) {
        throw tooManyWaiting();
      }
      pendingChars += message.length;
      try {
        await servers.publish(toChannelKey(database, channel), message);
      } finally {
        pendingChars -= message.length;
      }
    },
    async subscribe(channels, handlers, signal) {
      await subscriptions.subscribe(channels, handlers, signal);
    },
    async ping() {
      requireOpen("ping");
      await servers.ping();
    },
    async close() {
      isClosed = true;
      subscriptions.close();
      servers.drop();
    },
  };

  function requireOpen(action: string): void {
    if (isClosed) throw brokerClosed(action);
  }
}

function createServers(options: RedisBrokerOptions): RedisServers {
  const { database, timeoutMs = 5000, pingEveryMs = 5000, pingTimeoutMs = 10_000, natMap = {} } = options;
  const address = parseAddress(options.url);
  const timing = { access: address.access, timeoutMs, pingEveryMs, pingTimeoutMs };
  // A cluster has one database: its number is in the key.
  if (address.kind === "cluster") return createRedisCluster({ ...timing, seeds: address.endpoints, natMap });
  const target =
    address.kind === "sentinel" ? { sentinels: address.endpoints, name: address.name, natMap } : address.endpoint;
  const node = createRedisNode({ ...timing, target, database, isSharded: false });
  return {
    async publish(key, message) {
      await node.send("publish", (redis) => redis.publish(key, message));
    },
    open: (key, listener) => node.open(key, listener),
    async ping() {
      await node.send("ping", (redis) => redis.ping());
    },
    drop: () => node.drop(),
  };
}

function parseAddress(url: string): RedisAddress {
  try {
    return parseRedisUrl(url);
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error;
    throw new TypeError(`Cannot make a broker: REDIS_URL is not valid: ${error.message}`, { cause: error });
  }
}
