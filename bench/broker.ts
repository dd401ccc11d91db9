import { randomUUID } from "node:crypto";
import type { Broker } from "../shared/broker.ts";
import { createRedisBroker } from "../shared/brokers/redis.ts";
import { makeChannelName } from "../shared/channel_name.ts";
import { encodeEvent, toMessage } from "../shared/event.ts";
import { startRedis, type RedisServer } from "../test/support/redis.ts";
import { startRedisCluster } from "../test/support/redis_cluster.ts";
import { medians } from "./statistics.ts";

const channelCount = 3000;
const messageCount = 60_000;
/** Published and not yet acknowledged, each on another channel. */
const inFlight = 3000;

interface BrokerFigures {
  readonly publishedPerSecond: number;
  /** A Redis process uses one core: a node is full when this is 1 for each second. */
  readonly busiestNodeCpuMicrosPerMessage: number;
  readonly allNodesCpuMicrosPerMessage: number;
}

/** B1: events through one Redis, and through a cluster of three nodes, by turns: from one publisher to two followers of each channel. */
export async function benchBroker(say: (line: string) => void, rounds: number) {
  const single = await startRedis();
  const cluster = await startRedisCluster();
  try {
    const targets = { "one node": [single], "three nodes": cluster.primaries };
    const urls = { "one node": single.url, "three nodes": cluster.url };
    const measured: Record<keyof typeof targets, BrokerFigures[]> = { "one node": [], "three nodes": [] };
    for (let round = 0; round < rounds; round += 1) {
      for (const name of ["one node", "three nodes"] as const) {
        measured[name].push(await measure(urls[name], targets[name]));
      }
    }
    const figures = { "one node": medians(measured["one node"]), "three nodes": medians(measured["three nodes"]) };
    for (const [name, figure] of Object.entries(figures)) {
      say(
        `B1 ${name}: ${Math.round(figure.publishedPerSecond)} published a second, each to 2 · CPU a message: busiest node ` +
          `${figure.busiestNodeCpuMicrosPerMessage.toFixed(1)} µs, all ${figure.allNodesCpuMicrosPerMessage.toFixed(1)} µs`,
      );
    }
    return figures;
  } finally {
    await Promise.all([single.stop(), cluster.stop()]);
  }
}

async function measure(url: string, nodes: readonly RedisServer[]): Promise<BrokerFigures> {
  const [publisher, ...followers] = Array.from({ length: 3 }, () => createRedisBroker({ url, database: 2 }));
  if (publisher === undefined) throw new RangeError("There is no publisher");
  const leaving = new AbortController();
  try {
    const channels = Array.from({ length: channelCount }, () => makeChannelName("scan", randomUUID(), randomUUID()));
    let missing = messageCount * followers.length;
    const received = Promise.withResolvers<void>();
    const handlers = {
      onMessage() {
        missing -= 1;
        if (missing === 0) received.resolve();
      },
      onLost: () => received.reject(new Error("Cannot measure the broker: a subscription was lost")),
    };
    await Promise.all(
      followers.flatMap((follower) =>
        channels.map((channel) => follower.subscribe([channel], handlers, leaving.signal)),
      ),
    );
    const before = await Promise.all(nodes.map(redisCpuSeconds));
    const startMs = performance.now();
    await publishAll(publisher, channels);
    await received.promise;
    const seconds = (performance.now() - startMs) / 1000;
    const after = await Promise.all(nodes.map(redisCpuSeconds));
    const micros = after.map((value, index) => ((value - (before[index] ?? 0)) * 1_000_000) / messageCount);
    return {
      publishedPerSecond: messageCount / seconds,
      busiestNodeCpuMicrosPerMessage: Math.max(...micros),
      allNodesCpuMicrosPerMessage: micros.reduce((sum, value) => sum + value),
    };
  } finally {
    leaving.abort();
    for (const broker of [publisher, ...followers]) await broker.close();
  }
}

async function publishAll(publisher: Broker, channels: readonly string[]): Promise<void> {
  const message = toMessage(encodeEvent("scan.progress", { completed: 1, total: 100, text: "x".repeat(200) }));
  let next = 0;
  const publishSome = async () => {
    while (next < messageCount) {
      const channel = channels[next % channels.length] ?? "";
      next += 1;
      await publisher.publish(channel, message);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, publishSome));
}

/** CPU time of a Redis so far. */
export async function redisCpuSeconds(server: RedisServer): Promise<number> {
  const info = String(await server.command("INFO", "cpu"));
  return ["user", "sys"]
    .map((kind) => Number(new RegExp(`used_cpu_${kind}:([\\d.]+)`).exec(info)?.[1]))
    .reduce((sum, value) => sum + value);
}
