import { startRedis } from "../support/redis.ts";
import {
  gatewayHarness,
  openMemoryHarness,
  redisHarness,
  upstashHarness,
  type GatewayWithChannels,
} from "./broker_adapters.ts";
import { brokerContract } from "./broker_contract.ts";
import type { OpenHarness } from "./broker_harness.ts";
import { networkContract } from "./broker_network_contract.ts";

// The contract on Deno: one line a case, exit code 1 when any failed. `test/shared/brokers/deno.test.ts` starts it, with a
// gateway (as JSON) in its argument.
const gateway = JSON.parse(process.argv[2] ?? "") as GatewayWithChannels;
const redis = await startRedis({ password: "p@ss/w:rd secret" });
const adapters: readonly (readonly [string, OpenHarness])[] = [
  ["memory", openMemoryHarness],
  ["redis", redisHarness(redis)],
  ["upstash", upstashHarness(redis)],
  ["gateway", gatewayHarness(gateway)],
];
const failures = await Promise.all(adapters.map(([adapter, openHarness]) => runAll(adapter, openHarness)));
await redis.stop();
process.exitCode = failures.every((count) => count === 0) ? 0 : 1;

/** How many cases failed. */
async function runAll(adapter: string, openHarness: OpenHarness): Promise<number> {
  const cases = adapter === "memory" ? brokerContract : [...brokerContract, ...networkContract];
  let failed = 0;
  for (const { name, run } of cases) {
    const harness = await openHarness();
    try {
      await run(harness);
      console.log(`ok ${adapter}: ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`failed ${adapter}: ${name}\n`, error);
    } finally {
      await harness.close();
    }
  }
  return failed;
}
