import { startRedis } from "../support/redis.ts";
import { startRedisCluster } from "../support/redis_cluster.ts";
import { startRedisSentinels } from "../support/redis_sentinels.ts";
import {
  gatewayHarness,
  openMemoryHarness,
  clusterHarness,
  redisHarness,
  sentinelHarness,
  upstashHarness,
  type GatewayWithChannels,
} from "./broker_adapters.ts";
import { brokerContract } from "./broker_contract.ts";
import type { OpenHarness } from "./broker_harness.ts";
import { networkContract } from "./broker_network_contract.ts";

// The contract on Deno: one line a case, exit code 1 when any failed. `test/shared/brokers/deno.test.ts` starts it, with a
// gateway (as JSON) in its argument.
const gateway = JSON.parse(process.argv[2] ?? "") as GatewayWithChannels;
const password = "p@ss/w:rd secret";
const redis = await startRedis({ password });
const [cluster, sentinels] = await Promise.all([startRedisCluster({ password }), startRedisSentinels({ password })]);
const adapters: readonly (readonly [string, OpenHarness])[] = [
  ["memory", openMemoryHarness],
  ["redis", redisHarness(redis)],
  ["redis cluster", clusterHarness(cluster)],
  ["redis sentinel", sentinelHarness(sentinels)],
  ["upstash", upstashHarness(redis)],
  ["gateway", gatewayHarness(gateway)],
];
const failures = await Promise.all(adapters.map(([adapter, openHarness]) => runAll(adapter, openHarness)));
await Promise.all([redis, cluster, sentinels].map((servers) => servers.stop()));
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
