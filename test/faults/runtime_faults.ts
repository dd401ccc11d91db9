import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Broker } from "../../shared/broker.ts";
import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { call, createScan, keyOf, refused } from "../contract/harness.ts";
import { startEdgeGateway, type EdgeGateway, type Runtime } from "../edge/edge_gateway.ts";
import type { TestTenant } from "../support/operator.ts";
import { openReader, type StreamReader } from "./stream_reader.ts";
import { startTraffic, type Traffic } from "./traffic.ts";

const recheckSeconds = 2;

/**
 * workerd sees that a client is gone when it writes; behind `wrangler dev`'s own proxy, at the second write. Node and Deno
 * see it at once, and write their first heartbeat long after the tests are over.
 */
const heartbeatSeconds: Readonly<Record<Runtime, number>> = { Node: 15, Deno: 15, Workers: 1 };

/** The promises S1, S2, S4 and S5 while things break, on a gateway that runs as it is deployed. */
export function describeRuntimeFaults(runtime: Runtime): void {
  describe(`faults on ${runtime}`, () => {
    let gateway: EdgeGateway;
    /** On a network of its own that never breaks. */
    let producer: Broker;
    let scans: readonly Awaited<ReturnType<typeof register>>[];
    let traffic: Traffic;

    beforeAll(async () => {
      gateway = await startEdgeGateway(runtime, {
        EVENTSTREAM_HEARTBEAT_SECONDS: String(heartbeatSeconds[runtime]),
        EVENTSTREAM_RECHECK_SECONDS: String(recheckSeconds),
      });
      const other = await gateway.control.createTenant("Hooli");
      scans = [await register(gateway.tenant), await register(gateway.tenant), await register(other)];
      producer = createRedisBroker({ url: gateway.backends.redis.url, database: 2 });
      traffic = startTraffic(producer, { channels: scans.map(({ channel }) => channel), everyMs: 10 });
    });
    afterEach(() => {
      gateway.brokerNetwork.restore();
      gateway.databaseNetwork.restore();
    });
    afterAll(async () => {
      await traffic.stop();
      await producer.close();
      await gateway.close();
    });

    async function register(tenant: TestTenant) {
      const { channel, event_stream: path } = await createScan(gateway, tenant);
      return { channel, authorization: keyOf(tenant), streamUrl: `${gateway.url}${path}` };
    }

    /** Eight streams of each scan, each of which has received the newest event. */
    async function openAll(): Promise<readonly Followed[]> {
      const followed = await Promise.all(
        scans.flatMap(({ channel, streamUrl, authorization }) =>
          Array.from({ length: 8 }, async () => ({ channel, reader: await openReader(streamUrl, authorization) })),
        ),
      );
      for (const { reader, channel } of followed) {
        expect(reader.status).toBe(200);
        await reader.until(traffic.newest(channel));
      }
      return followed;
    }

    function expectComplete(followed: readonly Followed[]): void {
      for (const { reader, channel } of followed) {
        expect(traffic.gapIn(channel, reader)).toBeNull();
        expect(reader.numbers.length).toBeGreaterThan(0);
      }
    }

    /** Each is closed as lost, and none with a gap. */
    async function untilLost(followed: readonly Followed[]): Promise<void> {
      await allClosed(followed);
      expect(new Set(followed.map(({ reader }) => reader.closeReason))).toEqual(new Set(["lost"]));
      expectComplete(followed);
    }

    /** Opens each scan's stream again as a client does, until none is refused any more. */
    async function untilReopened(): Promise<void> {
      for (const { channel, streamUrl, authorization } of scans) {
        const isOpen = async () => {
          const reader = await openReader(streamUrl, authorization);
          if (reader.status === 200) await reader.until(traffic.newest(channel));
          else expect([reader.status, Number(reader.retryAfter) > 0]).toEqual([503, true]);
          reader.leave();
          return reader.status === 200;
        };
        await expect.poll(isOpen).toBe(true);
      }
    }

    /** Each request gets a 503 that says when to come back. */
    async function expectUnavailable(paths: readonly string[]): Promise<void> {
      const [scan] = scans;
      const asked = paths.map(async (path) => {
        const json = path.endsWith("/events") ? { type: "scan.delta", data: { x: 1 } } : undefined;
        const refusal = await call(gateway, path, { as: scan?.authorization ?? "", json });
        expect(await refused(refusal, 503), path).not.toMatch(/postgres|:\/\/|ECONN|127\.0\.0\.1/i);
      });
      await Promise.all(asked);
    }

    const streamPath = () => new URL(scans[0]?.streamUrl ?? "").pathname;
    /** On a channel of which nothing is stored. */
    const publishPath = () => `/api/v1/channels/${scans[0]?.channel.replace("scan:", "job:")}/events`;

    test("a broker that is cut off: every stream closes as lost, none with a gap; 503 meanwhile; all open again", async () => {
      const followed = await openAll();
      gateway.brokerNetwork.refuse();
      await untilLost(followed);
      await expectUnavailable([streamPath()]);
      await expect.poll(() => gateway.output()).toMatch(/"detail":"[^"]+","cause":/);
      await expectUnavailable([publishPath()]);
      expect((await call(gateway, "/readyz")).status).toBe(503);
      gateway.brokerNetwork.restore();
      await untilReopened();
    });

    test("subscriptions that the broker ends cleanly: every stream closes as lost, and opens again", async () => {
      const followed = await openAll();
      if (runtime === "Workers") gateway.backends.bridge.endStreams();
      else gateway.brokerNetwork.end();
      await untilLost(followed);
      await untilReopened();
    });

    test("a database that does not answer: 503s, open streams go on, and close as revoked once their authority is stale", async () => {
      const followed = await openAll();
      // Silence on one runtime, and refused connections on the others: each takes its time.
      if (runtime === "Node") gateway.databaseNetwork.stall();
      else gateway.databaseNetwork.refuse();
      const refused = expectUnavailable(["/api/v1/scans", streamPath()]);
      // They go on: what is published now still arrives.
      const next = followed.map(({ channel }) => traffic.newest(channel) + 20);
      await Promise.all(followed.map(({ reader }, index) => reader.until(next[index] ?? 0)));
      await refused;
      await allClosed(followed);
      expect(new Set(followed.map(({ reader }) => reader.closeReason))).toEqual(new Set(["revoked"]));
      expectComplete(followed);
      gateway.databaseNetwork.restore();
      await untilReopened();
    });
  });
}

async function allClosed(followed: readonly Followed[]): Promise<void> {
  await expect
    .poll(() => followed.filter(({ reader }) => !reader.isClosed).length, { timeout: 100_000, interval: 20 })
    .toBe(0);
}

interface Followed {
  readonly channel: string;
  readonly reader: StreamReader;
}
