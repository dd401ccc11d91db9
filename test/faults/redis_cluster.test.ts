import { expect, onTestFinished, test } from "vitest";
import type { Broker } from "../../shared/broker.ts";
import { toSlot } from "../../shared/brokers/cluster_slots.ts";
import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { createChannels } from "../broker_contract/broker_adapters.ts";
import { eventMessage } from "../broker_contract/broker_harness.ts";
import { moveSlot, primaryOf, startRedisCluster } from "../support/redis_cluster.ts";
import type { RedisServer } from "../support/redis.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";
import { recordFault, seconds } from "./reliability_table.ts";
import { openReader, type StreamReader } from "./stream_reader.ts";

const testFile = "test/faults/redis_cluster.test.ts";
const streamCount = 1000;
const slotOf = (channel: string) => toSlot(`scanstream:2:${channel}`);

test(
  "1,000 streams over a Redis Cluster, of which a slot moves and a primary fails",
  { timeout: 150_000 },
  async () => {
    const cluster = await startRedisCluster({ hasReplicas: true });
    onTestFinished(() => cluster.stop());
    const limits = { EVENTSTREAM_MAX_STREAMS_PER_TENANT: "2000", EVENTSTREAM_HEARTBEAT_SECONDS: "5" };
    const gateway = await startTestGateway({ REDIS_URL: cluster.url, ...limits });
    onTestFinished(() => gateway.stop());
    const producer = createRedisBroker({ url: cluster.url, database: 2 });
    onTestFinished(() => producer.close());
    const { channels } = await createChannels(gateway.url, gateway.acme.apiKey, streamCount);
    const streams = new Map<string, StreamReader>();
    for (const batch of inBatches(channels)) {
      await Promise.all(batch.map(async (channel) => streams.set(channel, await openStream(gateway, channel))));
    }
    onTestFinished(() => {
      for (const reader of streams.values()) reader.leave();
    });
    await publishToAll(producer, streams, 0);

    const [from, to] = cluster.primaries as [RedisServer, RedisServer];
    const moving = new Set(
      channels
        .map(slotOf)
        .filter((slot) => slot < 5000)
        .slice(0, 10),
    );
    const movedMs = await replaceLost(gateway, streams, {
      isAffected: (channel) => moving.has(slotOf(channel)),
      async fault() {
        for (const slot of moving) await moveSlot(slot, from, to);
      },
    });
    await publishToAll(producer, streams, 1);
    recordFault(
      {
        fault: "a slot of a Redis Cluster moves to another node",
        client: "`: close lost`, on the slot's channels alone",
        soon: seconds(movedMs.lost),
        recovers: `all of 1,000 streams are open ${seconds(movedMs.recovered)} after it`,
        lost: "no event between `open` and close",
      },
      testFile,
    );

    const failedMs = await replaceLost(gateway, streams, {
      isAffected: (channel) => primaryOf(slotOf(channel)) === 2,
      fault: () => cluster.primaries[2]?.stop("SIGKILL"),
    });
    await publishToAll(producer, streams, 2);
    recordFault(
      {
        fault: "a primary of a Redis Cluster is killed",
        client: "`: close lost`, on its channels alone; then 503 with `Retry-After`, also for publishing",
        soon: seconds(failedMs.lost),
        recovers: `its replica takes over (\`cluster-node-timeout\` is 1 s here): all of 1,000 streams are open ${seconds(failedMs.recovered)} after it`,
        lost: "no event between `open` and close",
      },
      testFile,
    );
    for (const { numbers } of streams.values()) expect([0, 1, 2].slice(-numbers.length)).toEqual(numbers);
  },
);

/** Breaks something, sees that just the affected streams are closed as lost, and opens them again. */
async function replaceLost(
  gateway: TestGateway,
  streams: Map<string, StreamReader>,
  { isAffected, fault }: { isAffected: (channel: string) => boolean; fault: () => Promise<void> | undefined },
): Promise<{ readonly lost: number; readonly recovered: number }> {
  const startMs = performance.now();
  await fault();
  const affected = Array.from(streams).filter(([channel]) => isAffected(channel));
  expect(affected.length).toBeGreaterThan(0);
  await Promise.all(affected.map(([, reader]) => reader.closed));
  const lost = performance.now() - startMs;
  for (const [, reader] of affected) expect(reader.closeReason).toBe("lost");
  for (const batch of inBatches(affected)) {
    await Promise.all(batch.map(async ([channel]) => streams.set(channel, await openStream(gateway, channel))));
  }
  const recovered = performance.now() - startMs;
  // The others are those that were there.
  for (const reader of streams.values()) expect(reader.closedAtMs).toBeNull();
  return { lost, recovered };
}

/** As a client does: again, while the answer is 503 with a retry delay. */
async function openStream({ url, acme }: TestGateway, channel: string): Promise<StreamReader> {
  for (;;) {
    const reader = await openReader(
      `${url}/api/v1/scans/${channel.split(":").at(-1)}/event-stream`,
      `Api-Key ${acme.apiKey}`,
    );
    if (reader.status === 200) return reader;
    expect(reader.status).toBe(503);
    expect(Number(reader.retryAfter)).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function publishToAll(producer: Broker, streams: ReadonlyMap<string, StreamReader>, n: number): Promise<void> {
  await Promise.all(Array.from(streams.keys(), (channel) => producer.publish(channel, eventMessage({ n }))));
  await Promise.all(Array.from(streams.values(), (reader) => reader.until(n)));
}

function inBatches<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / 50) }, (_, index) => items.slice(50 * index, 50 * (index + 1)));
}
