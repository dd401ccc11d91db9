import { afterAll, beforeAll } from "vitest";
import { openMemoryHarness, redisHarness, upstashHarness } from "../../broker_contract/broker_adapters.ts";
import { describeBroker } from "../../broker_contract/describe_broker.ts";
import { startRedis, type RedisServer } from "../../support/redis.ts";

const password = "p@ss/w:rd secret";
let redis: RedisServer;

beforeAll(async () => {
  redis = await startRedis({ password });
});
afterAll(() => redis.stop());

describeBroker("memory", openMemoryHarness, { hasNetwork: false });
describeBroker("redis", () => redisHarness(redis)(), { hasNetwork: true });
describeBroker("upstash", () => upstashHarness(redis)(), { hasNetwork: true });
// `redis_sentinels.test.ts` has sentinels.
