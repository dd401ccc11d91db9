import { randomUUID } from "node:crypto";
import type { Broker } from "../../shared/broker.ts";
import { createGatewayBroker } from "../../shared/brokers/gateway_broker.ts";
import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { createUpstashBroker } from "../../shared/brokers/upstash.ts";
import { makeChannelName } from "../../shared/channel_name.ts";
import type { RedisServer } from "../support/redis.ts";
import type { RedisCluster } from "../support/redis_cluster.ts";
import { joinProxies, startTcpProxy } from "../support/tcp_proxy.ts";
import { startUpstashBridge } from "../support/upstash_bridge.ts";
import type { BrokerHarness, OpenHarness, Timing } from "./broker_harness.ts";

const database = 2;
const redisTiming = { default: {}, short: { timeoutMs: 800, pingEveryMs: 200, pingTimeoutMs: 600 } } as const;

export const openMemoryHarness: OpenHarness = async () => {
  const broker = createMemoryBroker();
  return {
    createBroker: () => broker,
    createDirectBroker: () => broker,
    createRefusedBroker: () => null,
    createChannel,
    upstreamCount: null,
    network: null,
    carriesAnyText: true,
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
      createChannel,
      upstreamCount: (channel) => subscriberCount(redis, channel),
      network,
      carriesAnyText: true,
      secrets: [secret, encodeURIComponent(secret), "not the password"],
      close: () => network.close(),
    });
  };
}

/** Every node is reached through a network of its own, which break together. */
export function clusterHarness({ url, primaries }: RedisCluster): OpenHarness {
  return async () => {
    const proxies = await Promise.all(primaries.map((server) => startTcpProxy(server)));
    const secret = primaries[0]?.password ?? "";
    const natMap = Object.fromEntries(
      primaries.map(({ host, port }, index) => [`${host}:${port}`, { host, port: proxies[index]?.port ?? 0 }]),
    );
    const refusedUrl = url.replace(encodeURIComponent(secret), encodeURIComponent("not the password"));
    return collect({
      createBroker: (timing = "default") => createRedisBroker({ url, database, natMap, ...redisTiming[timing] }),
      createDirectBroker: () => createRedisBroker({ url, database }),
      createRefusedBroker: () => createRedisBroker({ url: refusedUrl, database, natMap }),
      createChannel,
      async upstreamCount(channel) {
        const answers = await Promise.all(primaries.map((node) => shardSubscriberCount(node, channel)));
        return answers.reduce((sum, count) => sum + count);
      },
      network: joinProxies(proxies),
      carriesAnyText: true,
      secrets: [secret, encodeURIComponent(secret), "not the password"],
      async close() {
        for (const proxy of proxies) await proxy.close();
      },
    });
  };
}

export function upstashHarness(redis: RedisServer): OpenHarness {
  return async () => {
    const token = "AX8sASQgN2M5-the-token";
    const bridge = await startUpstashBridge({ redisUrl: redis.url, token });
    const network = await startTcpProxy(bridge);
    const url = `http://127.0.0.1:${network.port}`;
    const timingOf = (timing: Timing) => (timing === "default" ? {} : { timeoutMs: 800, idleMs: 200, graceMs: 600 });
    return collect({
      createBroker: (timing = "default") => createUpstashBroker({ url, token, database, ...timingOf(timing) }),
      createDirectBroker: () => createUpstashBroker({ url: bridge.url, token, database }),
      createRefusedBroker: () => createUpstashBroker({ url, token: "not-the-token", database }),
      createChannel,
      upstreamCount: (channel) => subscriberCount(redis, channel),
      network,
      carriesAnyText: true,
      secrets: [token, "not-the-token"],
      async close() {
        await network.close();
        await bridge.close();
      },
    });
  };
}

/** A whole gateway, and channels of scans of the key's tenant; each channel is used once. */
export interface GatewayWithChannels {
  readonly url: string;
  readonly apiKey: string;
  readonly channels: string[];
}

/** Default: as many channels as the contract needs. */
export async function createChannels(url: string, apiKey: string, count = 120): Promise<GatewayWithChannels> {
  const channels: string[] = [];
  const headers = { authorization: `Api-Key ${apiKey}`, "content-type": "application/json" };
  while (channels.length < count) {
    const response = await fetch(`${url}/api/v1/scans`, { method: "POST", headers, body: "{}" });
    channels.push(((await response.json()) as { readonly channel: string }).channel);
  }
  return { url, apiKey, channels };
}

export function gatewayHarness({ url: directUrl, apiKey, channels }: GatewayWithChannels): OpenHarness {
  return async () => {
    const { hostname, port } = new URL(directUrl);
    const network = await startTcpProxy({ host: hostname, port: Number(port) });
    const url = `http://127.0.0.1:${network.port}`;
    const timingOf = (timing: Timing) => (timing === "default" ? {} : { timeoutMs: 1000, silenceMs: 1800 });
    return collect({
      createBroker: (timing = "default") => createGatewayBroker({ url, apiKey, ...timingOf(timing) }),
      createDirectBroker: () => createGatewayBroker({ url: directUrl, apiKey }),
      createRefusedBroker: () => createGatewayBroker({ url, apiKey: "not-the-key" }),
      createChannel() {
        const channel = channels.pop();
        if (channel === undefined) throw new RangeError("There are not enough scans for every case");
        return channel;
      },
      // The gateway counts all streams together, and the cases run at once.
      upstreamCount: null,
      network,
      carriesAnyText: false,
      secrets: [apiKey, "not-the-key"],
      close: () => network.close(),
    });
  };
}

export function createChannel(): string {
  return makeChannelName("scan", randomUUID(), randomUUID());
}

/** Every connection at the server counts one, so shared subscriptions show as one. */
async function subscriberCount(redis: RedisServer, channel: string): Promise<number> {
  const answer = await redis.command("PUBSUB", "NUMSUB", `scanstream:${database}:${channel}`);
  return Array.isArray(answer) ? Number(answer[1]) : Number.NaN;
}

async function shardSubscriberCount(redis: RedisServer, channel: string): Promise<number> {
  const answer = await redis.command("PUBSUB", "SHARDNUMSUB", `scanstream:${database}:${channel}`).catch(() => [0, 0]);
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
