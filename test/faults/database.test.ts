import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startFaultyGateway, type FaultyGateway, type FaultyScan } from "./faulty_gateway.ts";
import { recordFault, seconds } from "./reliability_table.ts";
import { openReader } from "./stream_reader.ts";
import { startTraffic, type Traffic } from "./traffic.ts";

/** The database, or the issuer's keys, are unavailable: what is open goes on while its authority is fresh, nothing new gets in. */

const here = "test/faults/database.test.ts";
const recheckSeconds = 2;
let faulty: FaultyGateway;
let scan: FaultyScan;
let traffic: Traffic;

beforeAll(async () => {
  faulty = await startFaultyGateway({ EVENTSTREAM_RECHECK_SECONDS: String(recheckSeconds) });
  scan = await faulty.createScan(await faulty.createTenant("Acme"));
  traffic = startTraffic(faulty.producer, { channels: [scan.channel], everyMs: 10 });
});
afterEach(() => faulty.databaseNetwork.restore());
afterAll(async () => {
  await traffic.stop();
  await faulty.close();
});

/** How long the slowest answer took; each is a 503 that says when to come back. */
async function expectUnavailable(): Promise<number> {
  const asked = ["/api/v1/scans", `/api/v1/scans/${scan.id}`, new URL(scan.streamUrl).pathname].map(async (path) => {
    const startedMs = performance.now();
    const response = await faulty.request(path, scan.authorization);
    expect(response.status, path).toBe(503);
    expect(Number(response.headers.get("retry-after")), path).toBeGreaterThan(0);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.text()).not.toMatch(/postgres|ECONN|127\.0\.0\.1/i);
    return performance.now() - startedMs;
  });
  return Math.max(...(await Promise.all(asked)));
}

async function untilAvailable(): Promise<number> {
  const startedMs = performance.now();
  const isAvailable = async () => {
    const response = await faulty.request("/api/v1/scans", scan.authorization);
    await response.body?.cancel();
    const reader = await openReader(scan.streamUrl, scan.authorization);
    reader.leave();
    return response.status === 200 && reader.status === 200;
  };
  await expect.poll(isAvailable, { timeout: 30_000, interval: 100 }).toBe(true);
  return performance.now() - startedMs;
}

test("a database that falls silent: 503 in time, open streams go on, close once their authority is stale, all comes back", async () => {
  const boundMs = 15_000;
  const openedAtMs = performance.now();
  const readers = await Promise.all(Array.from({ length: 20 }, () => openReader(scan.streamUrl, scan.authorization)));
  for (const reader of readers) expect(reader.status).toBe(200);
  const brokenAtMs = performance.now();
  faulty.databaseNetwork.stall();
  const refused = expectUnavailable();
  // Meanwhile every stream still receives events.
  const next = traffic.newest(scan.channel) + 50;
  await Promise.all(readers.map((reader) => reader.until(next)));
  const firstMs = await refused;
  expect(firstMs).toBeLessThan(boundMs);
  // A second question finds out no slower: nothing queues up behind a database that does not answer.
  expect(await expectUnavailable()).toBeLessThan(boundMs);
  await Promise.all(readers.map(({ closed }) => closed));
  const closedMs = readers.map(({ closedAtMs }) => (closedAtMs ?? Infinity) - brokenAtMs);
  for (const reader of readers) {
    expect(reader.closeReason).toBe("revoked");
    expect(traffic.gapIn(scan.channel, reader)).toBeNull();
  }
  // Trust lasts two intervals from the last check, and each stream was checked when it was opened.
  expect(Math.min(...closedMs) + brokenAtMs - openedAtMs).toBeGreaterThan(recheckSeconds * 2000);
  expect(Math.max(...closedMs)).toBeLessThan(recheckSeconds * 4 * 1000 + 2000);
  faulty.databaseNetwork.restore();
  const backMs = await untilAvailable();
  expect(backMs).toBeLessThan(15_000);
  recordFault(
    {
      fault: "PostgreSQL silent, connections stay",
      client:
        "503 with `Retry-After`; open streams go on, and close as `revoked` when their authority is no longer known",
      soon: `503 after ${seconds(firstMs)}; streams between two and four recheck intervals later (${recheckSeconds} s here: the last after ${seconds(Math.max(...closedMs))})`,
      recovers: `${seconds(backMs)} after it is back`,
      lost: "no event between `open` and close",
    },
    here,
  );
});
