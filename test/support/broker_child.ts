import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { createUpstashBroker } from "../../shared/brokers/upstash.ts";
import type { Broker } from "../../shared/broker.ts";
import { eventMessage, record } from "../broker_contract/broker_harness.ts";

// A process that uses one broker and ends by itself once it is closed: nothing of it may keep the process alive.
const [kind, url = "", secret = "", channel = "channel", use = "all"] = process.argv.slice(2);
const broker = create();
// Never used, and closed or not: it holds nothing.
createRedisBroker({ url: "redis://127.0.0.1:1", database: 2 });
createUpstashBroker({ url: "http://127.0.0.1:1", token: "token", database: 2 });
if (use === "all") {
  const recording = await record(broker, channel);
  await broker.publish(channel, eventMessage({ n: 1 }));
  await recording.untilCount(1);
} else if (use === "fail") {
  await broker.ping().catch((error: unknown) => console.log(error));
}
await broker.close();
console.log("closed");

function create(): Broker {
  if (kind === "redis") return createRedisBroker({ url, database: 2, ...(use === "fail" ? { timeoutMs: 500 } : {}) });
  if (kind === "upstash") return createUpstashBroker({ url, token: secret, database: 2 });
  return createMemoryBroker();
}
