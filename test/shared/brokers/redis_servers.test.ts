import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { AppError } from "../../../shared/app_error.ts";
import type { Broker } from "../../../shared/broker.ts";
import { toSlot } from "../../../shared/brokers/cluster_slots.ts";
import { createRedisBroker, type RedisBrokerOptions } from "../../../shared/brokers/redis.ts";
import { createChannel } from "../../broker_contract/broker_adapters.ts";
import {
  eventMessage,
  eventually,
  record,
  unavailability,
  type Recording,
} from "../../broker_contract/broker_harness.ts";
import type { RedisServer } from "../../support/redis.ts";
import { moveSlot, primaryOf, startRedisCluster, type RedisCluster } from "../../support/redis_cluster.ts";
import { startTcpProxy } from "../../support/tcp_proxy.ts";
import { startRedisSentinels, type RedisSentinels } from "../../support/redis_sentinels.ts";

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startRedisCluster({ hasReplicas: true });
});

afterAll(async () => {
  await cluster.stop();
});

function open(url: string, options: Partial<RedisBrokerOptions> = {}): Broker {
  const broker = createRedisBroker({ url, database: 2, ...options });
  onTestFinished(() => broker.close());
  return broker;
}

const slotOf = (channel: string) => toSlot(`scanstream:2:${channel}`);

const shardOf = (channel: string) => primaryOf(slotOf(channel));

/**
 * A client of one channel, which counts what it is shown: numbered messages are published to every channel all the time, a
 * message that was refused is published again, and a channel that was lost is subscribed again.
 */
interface FollowedChannel {
  readonly channel: string;
  readonly missed: string[];
  lostCount: number;
  isOpen: boolean;
}

async function follow(subscriber: Broker, channels: readonly string[], signal: AbortSignal) {
  const followed = channels.map((channel): FollowedChannel => ({ channel, missed: [], lostCount: 0, isOpen: false }));
  await Promise.all(followed.map((one) => subscribe(one)));
  return followed;

  async function subscribe(one: FollowedChannel): Promise<void> {
    let last: number | null = null;
    const onMessage = (_: string, message: string) => {
      const n = Number(/"n":(\d+)/.exec(message)?.[1]);
      // A subscription begins anywhere; from then on nothing is left out, and nothing comes twice.
      if (last !== null && n !== last + 1) one.missed.push(`${last} then ${n}`);
      last = n;
    };
    const onLost = () => {
      one.isOpen = false;
      one.lostCount += 1;
      void subscribe(one);
    };
    while (!signal.aborted) {
      try {
        await subscriber.subscribe([one.channel], { onMessage, onLost }, signal);
        one.isOpen = true;
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof AppError)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
}

/** Publishes 0, 1, 2, … on a channel until `signal` aborts; resolves with how long the slowest answer took. */
async function publishAll(publisher: Broker, channel: string, signal: AbortSignal): Promise<number> {
  let n = 0;
  let slowestMs = 0;
  while (!signal.aborted) {
    const startMs = Date.now();
    try {
      await publisher.publish(channel, eventMessage({ n }));
      n += 1;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
    slowestMs = Math.max(slowestMs, Date.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  return slowestMs;
}

test("toSlot is the slot that the server computes", async () => {
  const keys = ["", "a", "123456789", "{tenant}.x", "{}x", "x{}{y}", "scanstream:2:scan:é", "a{b}{c}"];
  for (const key of keys) expect(await cluster.primaries[0]?.command("CLUSTER", "KEYSLOT", key)).toBe(toSlot(key));
});

test("primaryOf names the primary that serves a slot, on both sides of every border", async () => {
  const replies = await cluster.primaries[0]?.command("CLUSTER", "SLOTS");
  if (!Array.isArray(replies)) throw new TypeError("CLUSTER SLOTS is no list");
  for (const [first, last, [, port]] of replies as readonly (readonly [number, number, readonly [string, number]])[]) {
    expect([first, last].map((slot) => cluster.primaries[primaryOf(slot)]?.port)).toEqual([port, port]);
  }
});

test("createRedisBroker closes the channels of a slot that moves, and no other", async () => {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const subscriber = open(cluster.url);
  const publisher = open(cluster.url);
  const channels = Array.from({ length: 300 }, createChannel);
  const followed = await follow(subscriber, channels, ending.signal);
  const publishing = channels.map((channel) => publishAll(publisher, channel, ending.signal));
  const moved = new Set(
    channels
      .filter((channel) => shardOf(channel) === 0)
      .slice(0, 20)
      .map(slotOf),
  );
  const [from, to] = cluster.primaries;
  for (const slot of moved) await moveSlot(slot, from as RedisServer, to as RedisServer);
  const affected = followed.filter(({ channel }) => moved.has(slotOf(channel)));
  await expect.poll(() => affected.every((one) => one.lostCount === 1 && one.isOpen), { timeout: 20_000 }).toBe(true);
  const receipts = affected.map(({ channel }) => record(subscriber, channel));
  for (const receipt of receipts) await (await receipt).untilCount(3);
  ending.abort();
  await Promise.all(publishing);
  expect(followed.filter((one) => !affected.includes(one) && one.lostCount > 0)).toEqual([]);
  expect(followed.filter((one) => one.missed.length > 0)).toEqual([]);
});

test("createRedisBroker keeps a publisher's order when the slot has moved", async () => {
  const channel = createChannel();
  const { primaries } = cluster;
  const owners = await Promise.all(
    primaries.map(async (node) => node.command("SPUBLISH", `scanstream:2:${channel}`, "x").catch(() => null)),
  );
  const from = owners.findIndex((count) => count !== null);
  const [owner, next] = [primaries[from], primaries[(from + 1) % 3]] as [RedisServer, RedisServer];
  const network = await startTcpProxy(owner);
  onTestFinished(() => network.close());
  const publisher = open(cluster.url, { natMap: { [`${owner.host}:${owner.port}`]: network } });
  await publisher.publish(channel, eventMessage({ n: 0 }));
  await moveSlot(slotOf(channel), owner, next);
  const recording = await record(open(cluster.url), channel);
  // The refusals come one by one: what is published after the first could overtake what is refused after it.
  network.slow(2000);
  const messages = Array.from({ length: 40 }, (_, n) => eventMessage({ n }));
  const published: Promise<void>[] = [];
  for (const message of messages) {
    published.push(publisher.publish(channel, message));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await Promise.all(published);
  await recording.untilCount(messages.length);
  expect(recording.messages).toEqual(messages);
});

test("createRedisBroker closes the channels of a primary that fails, whose replica takes over, and no other", async () => {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const subscriber = open(cluster.url);
  const publisher = open(cluster.url);
  const channels = Array.from({ length: 300 }, createChannel);
  const followed = await follow(subscriber, channels, ending.signal);
  const publishing = channels.map((channel) => publishAll(publisher, channel, ending.signal));
  await cluster.primaries[2]?.stop("SIGKILL");
  const affected = followed.filter(({ channel }) => shardOf(channel) === 2);
  await expect.poll(() => affected.every((one) => one.lostCount > 0 && one.isOpen), { timeout: 30_000 }).toBe(true);
  const receipts = affected.map(({ channel }) => record(subscriber, channel));
  for (const receipt of receipts) await (await receipt).untilCount(3);
  ending.abort();
  expect(Math.max(...(await Promise.all(publishing)))).toBeLessThan(20_000);
  expect(followed.filter((one) => !affected.includes(one) && one.lostCount > 0)).toEqual([]);
  expect(followed.filter((one) => one.missed.length > 0)).toEqual([]);
});

test("createRedisBroker refuses to publish while a primary is away, serves the others, and leaves a node that sees no other", async () => {
  const own = await startRedisCluster();
  onTestFinished(() => own.stop());
  const broker = open(own.url, { timeoutMs: 1000, pingEveryMs: 200, pingTimeoutMs: 60_000 });
  const channels = Array.from({ length: 30 }, createChannel);
  const away = channels.find((channel) => shardOf(channel) === 2) ?? "";
  const there = channels.find((channel) => shardOf(channel) === 0) ?? "";
  const kept = await record(broker, there);
  const lost = await record(broker, away);
  await own.primaries[2]?.stop("SIGKILL");
  await lost.untilLost();
  await unavailability(broker.publish(away, eventMessage({ n: 1 })), []);
  await broker.ping();
  expect(kept.lost).toEqual([]);
  own.primaries[1]?.freeze();
  expect(await kept.untilLost()).toBe("ended");
});

test("createRedisBroker leaves a primary that sentinels have replaced, follows the one that they name, and no replica", async () => {
  const own: RedisSentinels = await startRedisSentinels();
  onTestFinished(() => own.stop());
  const { primary, replica } = own;
  const natMap = { [`${primary.host}:${primary.port}`]: { host: replica.host, port: replica.port } };
  const misled = open(own.url, { natMap });
  const error = await unavailability(misled.publish(createChannel(), eventMessage({ n: 1 })), []);
  expect(String(error.cause)).toContain("expected the primary");

  const channel = createChannel();
  const broker = open(own.url, { pingTimeoutMs: 60_000 });
  const first = await record(broker, channel);
  // Nothing says so but the sentinels.
  primary.freeze();
  expect(await first.untilLost()).toBe("ended");
  let again: Recording | null = null;
  await eventually(async () => {
    again ??= await record(broker, channel).catch(() => null);
    return again !== null;
  }, "subscribed again");
  const published = () =>
    broker.publish(channel, eventMessage({ n: 1 })).then(
      () => true,
      () => false,
    );
  await eventually(published, "published again");
  expect(await replica.command("PUBSUB", "NUMSUB", `scanstream:2:${channel}`)).toEqual([expect.any(String), 1]);
});
