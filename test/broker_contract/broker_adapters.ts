import type { Broker } from "../../shared/broker.ts";
import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { createUpstashBroker } from "../../shared/brokers/upstash.ts";
import type { RedisServer } from "../support/redis.ts";
import { startTcpProxy } from "../support/tcp_proxy.ts";
import { startUpstashBridge } from "../support/upstash_bridge.ts";
import { createChannel, type BrokerHarness, type OpenHarness, type Timing } from "./broker_harness.ts";

const database = 2;
const redisTiming = { default: {}, short: { timeoutMs: 3000, pingEveryMs: 300, pingTimeoutMs: 3000 } } as const;

export const openMemoryHarness: OpenHarness = async () => {
  const broker = createMemoryBroker();
  return {
    createBroker: () => broker,
    createDirectBroker: () => broker,
    createRefusedBroker: () => null,
    channel: createChannel(),
    upstreamCount: null,
    network: null,
    secrets: [],
    close: () => broker.close(),
  };
};

/** `redis` has a password. */
export function redisHarness(redis: RedisServer): OpenHarness {
  return async () => {
    const network = await startTcpProxy(redis);
    const secret = redis.password ?? "";
    const urlOf = (port: number, password: string) => `redis://:${encodeURIComponent(password)}@127.0.0.1:${port}/7`;
    return collect({
      createBroker: (timing = "default") =>
        createRedisBroker({ url: urlOf(network.port, secret), database, ...redisTiming[timing] }),
      createDirectBroker: () => createRedisBroker({ url: urlOf(redis.port, secret), database }),
      createRefusedBroker: () => createRedisBroker({ url: urlOf(network.port, "not the password"), database }),
      channel: createChannel(),
      upstreamCount: (channel) => subscriberCount(redis, channel),
      network,
      secrets: [secret, encodeURIComponent(secret), "not the password"],
      close: () => network.close(),
    });
  };
}

export function upstashHarness(redis: RedisServer): OpenHarness {
  return async () => {
    const bridge = await startUpstashBridge(redis);
    const { token } = bridge;
    const network = await startTcpProxy(bridge);
    const url = `http://127.0.0.1:${network.port}`;
    const timingOf = (timing: Timing) => (timing === "default" ? {} : { timeoutMs: 3000, idleMs: 300, graceMs: 3000 });
    return collect({
      createBroker: (timing = "default") => createUpstashBroker({ url, token, database, ...timingOf(timing) }),
      createDirectBroker: () => createUpstashBroker({ url: bridge.url, token, database }),
      createRefusedBroker: () => createUpstashBroker({ url, token: "not-the-token", database }),
      channel: createChannel(),
      upstreamCount: (channel) => subscriberCount(redis, channel),
      network,
      secrets: [token, "not-the-token"],
      async close() {
        await network.close();
        await bridge.close();
      },
    });
  };
}

async function subscriberCount(redis: RedisServer, channel: string): Promise<number> {
  const answer = await redis.command("PUBSUB", "NUMSUB", `scanstream:${database}:${channel}`);
  return Array.isArray(answer) ? Number(answer[1]) : Number.NaN;
}

/** Closes every broker that was made, before the network under it. */
function collect(harness: BrokerHarness): BrokerHarness {
  const brokers: Broker[] = [];
  const kept = <Made extends Broker | null>(broker: Made): Made => {
    if (broker !== null) brokers.push(broker);
    return broker;
  };
  return {
    ...harness,
    createBroker: (timing) => kept(harness.createBroker(timing)),
    createDirectBroker: () => kept(harness.createDirectBroker()),
    createRefusedBroker: () => kept(harness.createRefusedBroker()),
    async close() {
      for (const broker of brokers) await broker.close();
      await harness.close();
    },
  };
}
