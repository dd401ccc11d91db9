import { afterAll, beforeAll } from "vitest";
import {
  clusterHarness,
  openMemoryHarness,
  redisHarness,
  upstashHarness,
} from "../../broker_contract/broker_adapters.ts";
import { describeBroker } from "../../broker_contract/describe_broker.ts";
import { startRedis, type RedisServer } from "../../support/redis.ts";
import { startRedisCluster, type RedisCluster } from "../../support/redis_cluster.ts";

const password = "p@ss/w:rd secret";
let redis: RedisServer;
let cluster: RedisCluster;

beforeAll(async () => {
  [redis, cluster] = await Promise.all([startRedis({ password }), startRedisCluster({ password })]);
});
afterAll(() => Promise.all([redis.stop(), cluster.stop()]));

describeBroker("memory", openMemoryHarness, { hasNetwork: false });
describeBroker("redis", () => redisHarness(redis)(), { hasNetwork: true });
describeBroker("redis cluster", () => clusterHarness(cluster)(), { hasNetwork: true });
describeBroker("upstash", () => upstashHarness(redis)(), { hasNetwork: true });
// `gateway_broker_app.test.ts` has the gateway, as a whole; `redis_servers.test.ts` has sentinels.
