import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startFaultyGateway, type FaultyGateway, type FaultyScan } from "./faulty_gateway.ts";
import { openReader } from "./stream_reader.ts";
import { startTraffic, type Traffic } from "./traffic.ts";

/** The database, or the issuer's keys, are unavailable: what is open goes on while its authority is fresh, nothing new gets in. */

let faulty: FaultyGateway;
let scan: FaultyScan;
let traffic: Traffic;

beforeAll(async () => {
  faulty = await startFaultyGateway({ EVENTSTREAM_RECHECK_SECONDS: "2" });
  scan = await faulty.createScan(await faulty.createTenant("Acme"));
  traffic = startTraffic(faulty.producer, { channels: [scan.channel], everyMs: 10 });
});
afterEach(() => faulty.databaseNetwork.restore());
afterAll(async () => {
  await traffic.stop();
  await faulty.close();
});

/** Each answer is a 503 that says when to come back. */
async function expectUnavailable(): Promise<void> {
  const asked = ["/api/v1/scans", `/api/v1/scans/${scan.id}`, new URL(scan.streamUrl).pathname].map(async (path) => {
    const response = await faulty.request(path, scan.authorization);
    expect(response.status, path).toBe(503);
    expect(Number(response.headers.get("retry-after")), path).toBeGreaterThan(0);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.text()).not.toMatch(/postgres|ECONN|127\.0\.0\.1/i);
  });
  await Promise.all(asked);
}

async function untilAvailable(): Promise<void> {
  const isAvailable = async () => {
    const response = await faulty.request("/api/v1/scans", scan.authorization);
    await response.body?.cancel();
    const reader = await openReader(scan.streamUrl, scan.authorization);
    reader.leave();
    return response.status === 200 && reader.status === 200;
  };
  await expect.poll(isAvailable, { timeout: 60_000, interval: 100 }).toBe(true);
}

test("a database that falls silent: 503, open streams go on, close once their authority is stale, all comes back", async () => {
  const readers = await Promise.all(Array.from({ length: 20 }, () => openReader(scan.streamUrl, scan.authorization)));
  for (const reader of readers) expect(reader.status).toBe(200);
  faulty.databaseNetwork.stall();
  const refused = expectUnavailable();
  // Meanwhile every stream still receives events.
  const next = traffic.newest(scan.channel) + 50;
  await Promise.all(readers.map((reader) => reader.until(next)));
  await refused;
  // Nothing queues up behind a database that does not answer.
  await expectUnavailable();
  await Promise.all(readers.map(({ closed }) => closed));
  for (const reader of readers) {
    expect(reader.closeReason).toBe("revoked");
    expect(traffic.gapIn(scan.channel, reader)).toBeNull();
  }
  faulty.databaseNetwork.restore();
  await untilAvailable();
});
