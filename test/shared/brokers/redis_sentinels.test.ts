import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../gateway/library/contract_client.ts";
import type { Broker } from "../../../shared/broker.ts";
import { createRedisBroker, type RedisBrokerOptions } from "../../../shared/brokers/redis.ts";
import { createChannel } from "../../broker_contract/broker_adapters.ts";
import { eventMessage, record, unavailability, type Recording } from "../../broker_contract/broker_harness.ts";
import { startRedisSentinels } from "../../support/redis_sentinels.ts";

function open(url: string, options: Partial<RedisBrokerOptions>): Broker {
  const broker = createRedisBroker({ url, database: 2, ...options });
  onTestFinished(() => broker.close());
  return broker;
}

test("createRedisBroker leaves a primary that sentinels have replaced, follows the one that they name, and no replica", async () => {
  const own = await startRedisSentinels();
  onTestFinished(() => own.stop());
  const { primary, replica } = own;
  const natMap = { [`${primary.host}:${primary.port}`]: { host: replica.host, port: replica.port } };
  const misled = open(own.url, { natMap });
  const error = await unavailability(misled.publish(createChannel(), eventMessage({ n: 1 })), []);
  expect(String(error.cause)).toContain("expected the primary");

  const channel = createChannel();
  const broker = open(own.url, { pingTimeoutMs: 60_000 });
  const first = await record(broker, channel);
  // Nothing says so but the sentinels.
  primary.freeze();
  expect(await first.untilLost()).toBe("ended");
  let again: Recording | null = null;
  await eventually(async () => {
    again ??= await record(broker, channel).catch(() => null);
    return again !== null;
  }, "subscribed again");
  const published = () =>
    broker.publish(channel, eventMessage({ n: 1 })).then(
      () => true,
      () => false,
    );
  await eventually(published, "published again");
  expect(await replica.command("PUBSUB", "NUMSUB", `scanstream:2:${channel}`)).toEqual([expect.any(String), 1]);
});
