import { afterAll, beforeAll } from "vitest";
import { clusterHarness, sentinelHarness } from "../../broker_contract/broker_adapters.ts";
import { describeBroker } from "../../broker_contract/describe_broker.ts";
import { startRedisCluster, type RedisCluster } from "../../support/redis_cluster.ts";
import { startRedisSentinels, type RedisSentinels } from "../../support/redis_sentinels.ts";

const password = "p@ss/w:rd secret";
let cluster: RedisCluster;
let sentinels: RedisSentinels;

beforeAll(async () => {
  [cluster, sentinels] = await Promise.all([startRedisCluster({ password }), startRedisSentinels({ password })]);
});

afterAll(async () => {
  await Promise.all([cluster.stop(), sentinels.stop()]);
});

describeBroker("redis cluster", () => clusterHarness(cluster)(), { hasNetwork: true });
describeBroker("redis sentinel", () => sentinelHarness(sentinels)(), { hasNetwork: true });
