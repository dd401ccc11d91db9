import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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

async function failedRechecks(): Promise<number> {
  const metrics = await (await faulty.request("/metrics", "")).text();
  return Number(/^scanstream_authority_rechecks_failed_total (\d+)$/m.exec(metrics)?.[1]);
}

test("a database that falls silent: 503 in time, open streams go on, close once their authority is stale, all comes back", async () => {
  const boundMs = 15_000;
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
  expect(Math.min(...closedMs)).toBeGreaterThan(recheckSeconds * 2000 - 500);
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

test("a short outage of the database costs no stream at all", async () => {
  const readers = await Promise.all(Array.from({ length: 20 }, () => openReader(scan.streamUrl, scan.authorization)));
  const failedBefore = await failedRechecks();
  faulty.databaseNetwork.refuse();
  await expectUnavailable();
  // The streams' authority was asked for meanwhile, and there was no answer.
  await expect.poll(failedRechecks, { timeout: 20_000 }).toBeGreaterThan(failedBefore);
  faulty.databaseNetwork.restore();
  const backMs = await untilAvailable();
  // Longer than a stream may go without its authority confirmed.
  await new Promise((resolve) => setTimeout(resolve, recheckSeconds * 2500));
  for (const reader of readers) {
    await reader.until(traffic.newest(scan.channel));
    expect(reader.closedAtMs).toBeNull();
    expect(traffic.gapIn(scan.channel, reader)).toBeNull();
    reader.leave();
  }
  recordFault(
    {
      fault: "PostgreSQL unavailable for a moment",
      client: "503 with `Retry-After`; open streams notice nothing",
      soon: "at once",
      recovers: `${seconds(backMs)} after it is back`,
      lost: "nothing",
    },
    here,
  );
});

test("an issuer whose keys cannot be had: users get 503 and not 401, keys go on, and all is well when it is back", async () => {
  let keySet = "";
  let isUnavailable = true;
  const jwks = createServer((request, response) => {
    if (isUnavailable) request.socket.resetAndDestroy();
    else response.setHeader("content-type", "application/json").end(keySet);
  });
  await once(jwks.listen(0, "127.0.0.1"), "listening");
  const address = `http://127.0.0.1:${(jwks.address() as AddressInfo).port}/jwks`;
  const remote = await startFaultyGateway({ AUTH_JWKS: "", AUTH_JWKS_URL: address });
  keySet = remote.backends.processEnvironment["AUTH_JWKS"] ?? "";
  const acme = await remote.createTenant("Acme");
  const followed = await remote.createScan(acme);
  const user = `Bearer ${acme.token}`;
  const askedAtMs = performance.now();
  const refused = await remote.request("/api/v1/scans", user);
  const refusedMs = performance.now() - askedAtMs;
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await remote.request("/api/v1/scans", followed.authorization)).status).toBe(200);

  isUnavailable = false;
  const restoredAtMs = performance.now();
  const statusOf = async () => (await remote.request("/api/v1/scans", user)).status;
  await expect.poll(statusOf, { timeout: 20_000, interval: 100 }).toBe(200);
  const backMs = performance.now() - restoredAtMs;

  isUnavailable = true;
  const reader = await openReader(followed.streamUrl, user);
  expect(reader.status).toBe(200);
  reader.leave();
  await remote.close();
  jwks.close();
  recordFault(
    {
      fault: "issuer's JWKS unavailable",
      client: "keys in hand: nothing; none yet: users get 503 with `Retry-After`, API keys go on",
      soon: `503 after ${seconds(refusedMs)}`,
      recovers: `${seconds(backMs)} after it is back`,
      lost: "nothing",
    },
    here,
  );
});
