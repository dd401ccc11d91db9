import { startRedis } from "../support/redis.ts";
import { redisHarness, upstashHarness } from "./broker_adapters.ts";
import { brokerContract } from "./broker_contract.ts";
import { networkContract } from "./broker_network_contract.ts";

// Runs the cases that meet the runtime's own sockets and fetch on Deno; `test/shared/brokers/deno.test.ts` reads a line for each.
const redis = await startRedis({ password: "p@ss/w:rd secret" });
const adapters = { redis: redisHarness(redis), upstash: upstashHarness(redis) };
const cases = Object.entries({ ...brokerContract, ...networkContract }).filter(
  ([name]) => name in networkContract || /in order|carries/.test(name),
);
await Promise.all(
  Object.entries(adapters).map(async ([adapter, openHarness]) => {
    for (const [name, run] of cases) {
      const harness = await openHarness();
      try {
        await run(harness);
        console.log(`ok ${adapter}: ${name}`);
      } catch (error) {
        console.log(`failed ${adapter}: ${name}\n`, error);
      } finally {
        await harness.close();
      }
    }
  }),
);
await redis.stop();
