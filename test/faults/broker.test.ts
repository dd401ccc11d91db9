import { afterAll, beforeAll, expect, test } from "vitest";
import { startFaultyGateway, type FaultyGateway, type FaultyScan } from "./faulty_gateway.ts";
import { recordFault, seconds } from "./reliability_table.ts";
import { openReader, type StreamReader } from "./stream_reader.ts";
import { startTraffic, untilReopened, type Traffic } from "./traffic.ts";

/** A hundred streams on ten channels of two tenants, events on all of them all the time, and the broker breaks. */

const here = "test/faults/broker.test.ts";
let faulty: FaultyGateway;
let scans: readonly FaultyScan[];
let traffic: Traffic;

beforeAll(async () => {
  faulty = await startFaultyGateway();
  const tenants = [await faulty.createTenant("Acme"), await faulty.createTenant("Globex")];
  const five = [1, 2, 3, 4, 5];
  scans = (await Promise.all(tenants.map((tenant) => Promise.all(five.map(() => faulty.createScan(tenant)))))).flat();
  traffic = startTraffic(faulty.producer, { channels: scans.map(({ channel }) => channel), everyMs: 10 });
});
afterAll(async () => {
  await traffic.stop();
  await faulty.close();
});

interface Followed {
  readonly scan: FaultyScan;
  readonly reader: StreamReader;
}

/** A hundred open streams, each of which has heard something. */
async function openAll(): Promise<readonly Followed[]> {
  const followed = await Promise.all(
    scans.flatMap((scan) =>
      Array.from({ length: 10 }, async () => ({ scan, reader: await openReader(scan.streamUrl, scan.authorization) })),
    ),
  );
  for (const { reader, scan } of followed) {
    expect(reader.status).toBe(200);
    await reader.until(traffic.newest(scan.channel));
  }
  return followed;
}

/** Waits for all to be closed; how long after `sinceMs` the last one was. */
async function untilLost(followed: readonly Followed[], sinceMs: number): Promise<number> {
  await Promise.all(followed.map(({ reader }) => reader.closed));
  for (const { reader, scan } of followed) {
    expect(reader.closeReason).toBe("lost");
    expect(traffic.gapIn(scan.channel, reader)).toBeNull();
    expect(reader.numbers.length).toBeGreaterThan(0);
  }
  return Math.max(...followed.map(({ reader }) => (reader.closedAtMs ?? Infinity) - sinceMs));
}

test("a broker that is cut off: every stream closes as lost at once, none with a gap, and all open again", async () => {
  const followed = await openAll();
  const cutAtMs = performance.now();
  faulty.redisNetwork.refuse();
  const lostMs = await untilLost(followed, cutAtMs);
  expect(lostMs).toBeLessThan(5000);
  const [scan] = scans;
  const refusedAtMs = performance.now();
  const refused = await openReader(scan?.streamUrl ?? "", scan?.authorization ?? "");
  const refusedMs = performance.now() - refusedAtMs;
  expect(refused.status).toBe(503);
  expect(Number(refused.retryAfter)).toBeGreaterThan(0);
  expect(refusedMs).toBeLessThan(20_000);
  expect(await (await faulty.request("/readyz", "")).json()).toMatchObject({ status: 503 });
  const published = await faulty.request(`/api/v1/channels/${scan?.channel}/events`, scan?.authorization ?? "", {
    type: "scan.delta",
    data: { x: 1 },
  });
  expect(published.status).toBe(503);
  expect(Number(published.headers.get("retry-after"))).toBeGreaterThan(0);
  const restoredAtMs = performance.now();
  faulty.redisNetwork.restore();
  const backMs = await untilReopened(traffic, scans, restoredAtMs);
  expect(backMs).toBeLessThan(20_000);
  recordFault(
    {
      fault: "broker connection cut",
      client: "`: close lost`; then 503 with `Retry-After`, also for publishing",
      soon: `${seconds(lostMs)}; 503 after ${seconds(refusedMs)}`,
      recovers: `streams open ${seconds(backMs)} after it is back`,
      lost: "no event between `open` and close",
    },
    here,
  );
}, 60_000);

test("a broker that falls silent is noticed without a single error on the wire", async () => {
  const followed = await openAll();
  const stalledAtMs = performance.now();
  faulty.redisNetwork.stall();
  const lostMs = await untilLost(followed, stalledAtMs);
  expect(lostMs).toBeLessThan(30_000);
  faulty.redisNetwork.restore();
  const restoredAtMs = performance.now();
  const backMs = await untilReopened(traffic, scans, restoredAtMs);
  recordFault(
    {
      fault: "broker silent, connections stay",
      client: "`: close lost`",
      soon: seconds(lostMs),
      recovers: `streams open ${seconds(backMs)} after it is back`,
      lost: "no event between `open` and close",
    },
    here,
  );
}, 90_000);

test("a broker that is killed and started anew", async () => {
  const followed = await openAll();
  const killedAtMs = performance.now();
  await faulty.redis.stop("SIGKILL");
  const lostMs = await untilLost(followed, killedAtMs);
  expect(lostMs).toBeLessThan(5000);
  await faulty.redis.start();
  const startedAtMs = performance.now();
  const backMs = await untilReopened(traffic, scans, startedAtMs);
  expect(backMs).toBeLessThan(20_000);
  recordFault(
    {
      fault: "broker killed and restarted",
      client: "`: close lost`; then 503 with `Retry-After`",
      soon: seconds(lostMs),
      recovers: `streams open ${seconds(backMs)} after it is back`,
      lost: "no event between `open` and close",
    },
    here,
  );
}, 60_000);
