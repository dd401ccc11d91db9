import type { Redis } from "ioredis";
import { AppError } from "../app_error.ts";
import { withTimeout } from "../with_timeout.ts";
import { isServingPrimary, parseMoved, parseSlots, toSlot } from "./cluster_slots.ts";
import type { NatMap } from "./redis_connection.ts";
import { createRedisNode, type RedisNode, type RedisServers } from "./redis_node.ts";
import type { SubscriberSettings } from "./redis_subscriber.ts";
import type { RedisEndpoint } from "./redis_url.ts";
import { createSendQueue, type SendQueue } from "./send_queue.ts";
import type { ChannelListener, ChannelSource } from "./shared_subscriptions.ts";
import { unavailable } from "./unavailable.ts";

export interface RedisClusterSettings extends Omit<SubscriberSettings, "target" | "database" | "isSharded"> {
  /** Asked for the others, in turn. */
  readonly seeds: readonly RedisEndpoint[];
  readonly natMap: NatMap;
}

interface ClusterNode extends RedisNode {
  readonly endpoint: RedisEndpoint;
}

/** A slot that moves while its new owner is being learned may move again. */
const maxRedirects = 3;
const maxBatchChars = 1_000_000;
const maxWaitingChars = 16_000_000;

/**
 * A Redis Cluster, with sharded pub/sub: the key of a channel decides its slot, and with it the one node that carries it.
 *
 * Subscriptions are lost with the connection to their node, and one by one when their slot moves. The client's own cluster
 * mode is not used: it subscribes again by itself, and what was published in between would be missed unseen.
 */
export function createRedisCluster(settings: RedisClusterSettings): RedisServers {
  const { seeds, natMap, timeoutMs } = settings;
  const nodes = new Map<string, ClusterNode>();
  const queues = new Map<string, SendQueue<string>>();
  let slots: (RedisEndpoint | undefined)[] | null = null;
  let refreshing: Promise<(RedisEndpoint | undefined)[]> | null = null;
  /** Among the candidates to ask, the one that is asked first. */
  let turn = 0;
  let checking: ReturnType<typeof setInterval> | null = null;
  let isDropped = false;

  return {
    async publish(key, message) {
      const queue = queues.get(key) ?? createQueue(key);
      queues.set(key, queue);
      try {
        await queue.push(message);
      } finally {
        if (queue.isIdle() && queues.get(key) === queue) queues.delete(key);
      }
    },
    open: openChannel,
    async ping() {
      await askAny("ping", (redis) => redis.ping());
    },
    drop() {
      isDropped = true;
      if (checking !== null) clearInterval(checking);
      for (const node of Array.from(nodes.values())) node.drop();
    },
  };

  function openChannel(key: string, listener: ChannelListener): ChannelSource {
    let source: ChannelSource | null = null;
    let isClosed = false;
    checking ??= setInterval(checkNodes, settings.pingEveryMs);
    return {
      confirmed: confirm(),
      close() {
        isClosed = true;
        source?.close();
      },
    };

    async function confirm(): Promise<void> {
      for (let redirects = 0; ; redirects += 1) {
        const node = await nodeOf("subscribe", key);
        // A subscriber that left in the meantime has nothing to confirm.
        if (isClosed) return;
        source = node.open(key, listener);
        try {
          await source.confirmed;
          return;
        } catch (error) {
          source.close();
          if (!follow(key, node, error) || redirects === maxRedirects) throw error;
        }
      }
    }
  }

  /** One batch of a channel is in flight at a time: none can overtake another that was redirected. */
  function createQueue(key: string): SendQueue<string> {
    return createSendQueue({
      sizeOf: (message) => message.length,
      maxBatchSize: maxBatchChars,
      maxWaitingSize: maxWaitingChars,
      send: (messages) => publishAll(key, messages),
    });
  }

  async function publishAll(key: string, messages: readonly string[]): Promise<readonly (Error | null)[]> {
    const failures: (Error | null)[] = [];
    for (let redirects = 0; ; redirects += 1) {
      const node = await nodeOf("publish", key);
      const outcomes = await Promise.all(
        messages.slice(failures.length).map((message) =>
          node
            .send("publish", (redis) => redis.spublish(key, message))
            .then(
              () => null,
              (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
            ),
        ),
      );
      // What was refused before a message that was taken would come too late: only the rest goes to the other node.
      const taken = outcomes.findLastIndex((failure) => failure === null || movedFrom(node, failure) === null);
      failures.push(...outcomes.slice(0, taken + 1));
      const refused = outcomes.slice(taken + 1);
      if (refused.length === 0) return failures;
      follow(key, node, refused[0]);
      if (redirects === maxRedirects) return [...failures, ...refused];
    }
  }

  /** Whether the command was refused because the slot is another node's, which is known from now on. */
  function follow(key: string, node: ClusterNode, error: unknown): boolean {
    const owner = movedFrom(node, error);
    if (owner === null) return false;
    if (slots !== null) slots[toSlot(key)] = owner;
    return true;
  }

  async function nodeOf(action: string, key: string): Promise<ClusterNode> {
    const endpoint = (slots ?? (await refresh()))[toSlot(key)];
    if (endpoint !== undefined) return openNode(endpoint);
    slots = null;
    throw unavailable(`Cannot ${action}: no node of the Redis cluster serves the channel`, { secrets: [] });
  }

  function refresh(): Promise<(RedisEndpoint | undefined)[]> {
    refreshing ??= askAny("reach the cluster", (redis) => redis.cluster("SLOTS"))
      .then(([reply, node]) => (slots = parseSlots(reply, node.endpoint)))
      .finally(() => {
        refreshing = null;
      });
    return refreshing;
  }

  /** For any node, within the time of one command; the next call begins with the one that answered, or another. */
  async function askAny<Result>(
    action: string,
    command: (redis: Redis) => Promise<Result>,
  ): Promise<readonly [Result, ClusterNode]> {
    const candidates = [...seeds, ...Array.from(nodes.values(), ({ endpoint }) => endpoint)];
    const untilMs = performance.now() + timeoutMs;
    let failure: unknown = null;
    for (let asked = 0; asked < candidates.length && performance.now() < untilMs; asked += 1) {
      const endpoint = candidates[turn % candidates.length];
      if (endpoint === undefined) break;
      const node = openNode(endpoint);
      try {
        const answer = await withTimeout(node.send(action, command), timeoutMs / 2, () =>
          unavailable(`Cannot ${action}: Redis did not answer within ${timeoutMs / 2000} s`, { secrets: [] }),
        );
        return [answer, node];
      } catch (error) {
        failure = error;
        turn += 1;
      }
    }
    throw failure;
  }

  function openNode(endpoint: RedisEndpoint): ClusterNode {
    const name = `${endpoint.host}:${endpoint.port}`;
    const known = nodes.get(name);
    if (known !== undefined) return known;
    const target = natMap[name] ?? endpoint;
    const opened = createRedisNode({ ...settings, target, database: 0, isSharded: true }, () => (slots = null));
    const node = Object.assign(opened, { endpoint });
    nodes.set(name, node);
    return node;
  }

  function checkNodes(): void {
    for (const node of Array.from(nodes.values())) if (node.isSubscribed) void checkNode(node);
  }

  /** A node that was separated from the others keeps its connections, and nothing is published to it any more. */
  async function checkNode(node: ClusterNode): Promise<void> {
    try {
      const view = await node.send("check the cluster", (redis) => redis.cluster("NODES"));
      if (!isDropped && !isServingPrimary(String(view))) node.drop();
    } catch {
      // Whether its subscriptions still live is found by their own connection.
    }
  }

  function movedFrom(node: ClusterNode, error: unknown): RedisEndpoint | null {
    if (!(error instanceof AppError) || !(error.cause instanceof Error)) return null;
    return parseMoved(error.cause.message, node.endpoint);
  }
}
