import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pingMessage } from "../../../shared/brokers/message.ts";
import { eventually } from "../../broker_contract/broker_harness.ts";
import { startRedis, type RedisServer } from "../../support/redis.ts";
import { startTcpProxy, type TcpProxy } from "../../support/tcp_proxy.ts";
import { startUpstashBridge, type UpstashBridge } from "../../support/upstash_bridge.ts";
import { startWorkerd, type Workerd } from "../../support/workerd.ts";

let redis: RedisServer;
let bridge: UpstashBridge;
let network: TcpProxy;
let worker: Workerd;

beforeAll(async () => {
  redis = await startRedis();
  bridge = await startUpstashBridge({ redisUrl: redis.url });
  network = await startTcpProxy(bridge);
  worker = await startWorkerd(fileURLToPath(new URL("../../support/upstash_worker.ts", import.meta.url)), {
    bindings: { URL: `http://127.0.0.1:${network.port}`, TOKEN: bridge.token },
    durableObject: "Hub",
  });
});

afterAll(async () => {
  await worker.close();
  await network.close();
  await bridge.close();
  await redis.stop();
});

test("createUpstashBroker on Workers receives over requests, pings, unsubscribes and reports every loss", async () => {
  const ask = (path: string) => worker.ask(path);
  const commands = bridge.watch();
  await ask("/subscribe");
  await ask("/publish");
  expect(await ask("/publish-once")).toBe("200 published");
  await expect.poll(() => commands.filter((command) => command.includes(pingMessage)).length).toBeGreaterThan(0);
  expect(await ask("/received")).toEqual(["a", "b", "once"]);
  expect(bridge.streamCount).toBe(1);
  await ask("/leave");
  await expect.poll(() => bridge.streamCount).toBe(0);

  const lost: string[] = [];
  for (const [reason, lose] of [
    ["ended", () => bridge.endStreams()],
    ["cut", () => network.cut()],
    ["silent", () => network.stall()],
  ] as const) {
    await ask("/subscribe");
    lose();
    lost.push(`lost ${reason}`);
    const expected = JSON.stringify(["a", "b", "once", ...lost]);
    await eventually(
      async () => JSON.stringify(await ask("/received")) === expected,
      `the loss (${reason}) was reported`,
    );
  }
  expect(await ask("/publish")).toMatch(/^503 Cannot publish: Upstash did not answer within 1 s/);
  expect(await ask("/subscribe")).toMatch(/^503 Cannot subscribe: Upstash did not answer within 1 s/);
  network.refuse();
  expect(await ask("/publish")).toMatch(/^503 Cannot publish: Upstash cannot be reached/);
  network.restore();
  await ask("/subscribe");
  await ask("/publish");
  const receivedAgain = JSON.stringify(["a", "b", "once", ...lost, "a", "b"]);
  await eventually(
    async () => JSON.stringify(await ask("/received")) === receivedAgain,
    "received again after the losses",
  );
});
