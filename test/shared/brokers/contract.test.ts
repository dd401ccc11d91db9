import { afterAll, describe, test } from "vitest";
import { openMemoryHarness, redisHarness, upstashHarness } from "../../broker_contract/broker_adapters.ts";
import { brokerContract } from "../../broker_contract/broker_contract.ts";
import type { OpenHarness } from "../../broker_contract/broker_harness.ts";
import { networkContract } from "../../broker_contract/broker_network_contract.ts";
import { startRedis } from "../../support/redis.ts";

const password = "p@ss/w:rd secret";

const redis = await startRedis({ password });
afterAll(() => redis.stop());

const everyCase = { ...brokerContract, ...networkContract };

// `redis.test.ts` has sentinels.
describe.each<[name: string, openHarness: OpenHarness, cases: typeof brokerContract]>([
  ["memory", openMemoryHarness, brokerContract],
  ["redis", () => redisHarness(redis)(), everyCase],
  ["upstash", () => upstashHarness(redis)(), everyCase],
])("%s broker", (_, openHarness, cases) => {
  for (const [title, run] of Object.entries(cases)) {
    // Most of the time they wait.
    test.concurrent(title, async () => {
      const harness = await openHarness();
      try {
        await run(harness);
      } finally {
        await harness.close();
      }
    });
  }
});
