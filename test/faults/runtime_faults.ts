import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { EdgeTenant } from "../support/edge_backends.ts";
import { startRuntimeGateway, type FaultyGateway, type FaultyScan, type Runtime } from "./faulty_gateway.ts";
import { recordFault, seconds, type FaultRow } from "./reliability_table.ts";
import { openReader, type StreamReader } from "./stream_reader.ts";
import { startTraffic, untilReopened, type Traffic } from "./traffic.ts";

const here = "test/faults/runtime_faults.ts";
/** Before the first heartbeat of Node and Deno. */
const placesFreeMs = 8000;
const recheckSeconds = 2;
const maxStreamsPerTenant = 24;

/**
 * workerd sees that a client is gone when it writes; behind `wrangler dev`'s own proxy, at the second write. Node and Deno
 * see it at once, and write their first heartbeat long after the tests are over.
 */
const heartbeatSeconds: Readonly<Record<Runtime, number>> = { Node: 15, Deno: 15, Workers: 1 };

/**
 * The time until silence is noticed cannot be shortened in a deployed gateway. By day the adapters' contract has the same on
 * every runtime, with short times.
 */
const isNightly = process.env["NIGHTLY"] === "1";

export interface RuntimeFaultsOptions {
  /** By when a broker that falls silent must have been noticed (contract, "Broker"). */
  readonly silenceBoundMs: number;
}

/** The promises S1, S2, S4 and S5 while things break, on a gateway that runs as it is deployed. */
export function describeRuntimeFaults(runtime: Runtime, { silenceBoundMs }: RuntimeFaultsOptions): void {
  describe(`faults on ${runtime}`, () => {
    let gateway: FaultyGateway;
    let tenant: EdgeTenant;
    let scans: readonly FaultyScan[];
    let traffic: Traffic;

    beforeAll(async () => {
      gateway = await startRuntimeGateway(runtime, {
        EVENTSTREAM_HEARTBEAT_SECONDS: String(heartbeatSeconds[runtime]),
        EVENTSTREAM_RECHECK_SECONDS: String(recheckSeconds),
        EVENTSTREAM_MAX_STREAMS_PER_TENANT: String(maxStreamsPerTenant),
      });
      tenant = await gateway.createTenant("Acme");
      const other = await gateway.createTenant("Globex");
      scans = [await gateway.createScan(tenant), await gateway.createScan(tenant), await gateway.createScan(other)];
      traffic = startTraffic(gateway.producer, { channels: scans.map(({ channel }) => channel), everyMs: 10 });
    });
    afterEach(() => {
      gateway.brokerNetwork.restore();
      gateway.databaseNetwork.restore();
    });
    afterAll(async () => {
      await traffic.stop();
      await gateway.close();
    });

    // Rows of a gateway inside the test's own process say Node alone.
    const on = runtime === "Node" ? "Node, `serve`" : runtime;
    const record = (row: Omit<FaultRow, "on">) => recordFault({ ...row, on }, here);

    /** Eight streams of each scan, each of which has received the newest event. */
    async function openAll(): Promise<readonly Followed[]> {
      const followed = await Promise.all(
        scans.flatMap((scan) =>
          Array.from({ length: 8 }, async () => ({
            scan,
            reader: await openReader(scan.streamUrl, scan.authorization),
          })),
        ),
      );
      for (const { reader, scan } of followed) {
        expect(reader.status).toBe(200);
        await reader.until(traffic.newest(scan.channel));
      }
      return followed;
    }

    function expectComplete(followed: readonly Followed[]): void {
      for (const { reader, scan } of followed) {
        expect(traffic.gapIn(scan.channel, reader)).toBeNull();
        expect(reader.numbers.length).toBeGreaterThan(0);
      }
    }

    /** How long after `sinceMs` the last one was closed, each as lost and none with a gap. */
    async function untilLost(followed: readonly Followed[], sinceMs: number, boundMs = 5000): Promise<number> {
      await allClosed(followed, boundMs);
      expect(new Set(followed.map(({ reader }) => reader.closeReason))).toEqual(new Set(["lost"]));
      expectComplete(followed);
      return Math.max(...followed.map(({ reader }) => (reader.closedAtMs ?? Infinity) - sinceMs));
    }

    /** A 503 that says when to come back, to whatever is asked. How long the slowest took. */
    async function expectUnavailable(paths: readonly string[]): Promise<number> {
      const [scan] = scans;
      const asked = paths.map(async (path) => {
        const startedMs = performance.now();
        const event = path.endsWith("/events") ? { type: "scan.delta", data: { x: 1 } } : undefined;
        const response = await gateway.request(path, scan?.authorization ?? "", event);
        expect(response.status, path).toBe(503);
        expect(Number(response.headers.get("retry-after")), path).toBeGreaterThan(0);
        expect(response.headers.get("content-type"), path).toBe("application/problem+json");
        expect(await response.text(), path).not.toMatch(/postgres|:\/\/|ECONN|127\.0\.0\.1/i);
        return performance.now() - startedMs;
      });
      return Math.max(...(await Promise.all(asked)));
    }

    const streamPath = () => new URL(scans[0]?.streamUrl ?? "").pathname;
    const publishPath = () => `/api/v1/channels/${scans[0]?.channel}/events`;

    test("a broker that is cut off: every stream closes as lost, none with a gap; 503 meanwhile; all open again", async () => {
      const followed = await openAll();
      const cutAtMs = performance.now();
      gateway.brokerNetwork.refuse();
      const lostMs = await untilLost(followed, cutAtMs);
      const refusedMs = await expectUnavailable([streamPath(), publishPath()]);
      expect(refusedMs).toBeLessThan(20_000);
      expect((await gateway.request("/readyz", "")).status).toBe(503);
      gateway.brokerNetwork.restore();
      const backMs = await untilReopened(traffic, scans, performance.now());
      expect(backMs).toBeLessThan(20_000);
      record({
        fault: "broker connection cut",
        client: "`: close lost`; then 503 with `Retry-After`, also for publishing",
        soon: `${seconds(lostMs)}; 503 after ${seconds(refusedMs)}`,
        recovers: `streams open ${seconds(backMs)} after it is back`,
        lost: "no event between `open` and close",
      });
    });

    test("subscriptions that the broker ends cleanly: every stream closes as lost, and opens again", async () => {
      const followed = await openAll();
      const endedAtMs = performance.now();
      if (runtime === "Workers") gateway.backends.bridge.endStreams();
      else gateway.brokerNetwork.end();
      const lostMs = await untilLost(followed, endedAtMs);
      const backMs = await untilReopened(traffic, scans, performance.now());
      expect(backMs).toBeLessThan(20_000);
      record({
        fault: "broker ends its side cleanly",
        client: "`: close lost`",
        soon: seconds(lostMs),
        recovers: `streams open ${seconds(backMs)} later`,
        lost: "no event between `open` and close",
      });
    });

    test("a broker's answer that ends in the middle of an event: the half event is none, and every stream closes as lost", async () => {
      const followed = await openAll();
      const cutAtMs = performance.now();
      // A number that is no multiple of anything that is sent.
      gateway.brokerNetwork.truncate(1237);
      const lostMs = await untilLost(followed, cutAtMs);
      gateway.brokerNetwork.restore();
      const backMs = await untilReopened(traffic, scans, performance.now());
      expect(backMs).toBeLessThan(20_000);
      record({
        fault: "broker's answer ends in the middle of an event",
        client: "`: close lost`; half an event is none",
        soon: seconds(lostMs),
        recovers: `streams open ${seconds(backMs)} after it is back`,
        lost: "no event between `open` and close",
      });
    });

    test("clients that reset their connections: their places are free again, and no other client notices", async () => {
      const elsewhere = await gateway.createTenant("Initech");
      const scan = await gateway.createScan(elsewhere);
      const bystanders = await openAll();
      const sockets = await Promise.all(Array.from({ length: maxStreamsPerTenant }, () => openSocket(scan)));
      const refused = await openReader(scan.streamUrl, scan.authorization);
      expect(refused.status).toBe(429);
      expect(Number(refused.retryAfter)).toBeGreaterThan(0);
      const resetAtMs = performance.now();
      for (const socket of sockets) socket.resetAndDestroy();
      const again: StreamReader[] = [];
      while (again.length < maxStreamsPerTenant) {
        const reader = await openReader(scan.streamUrl, scan.authorization);
        if (reader.status === 200) again.push(reader);
        else await new Promise((resolve) => setTimeout(resolve, 50));
        expect(performance.now() - resetAtMs).toBeLessThan(placesFreeMs);
      }
      const freeMs = performance.now() - resetAtMs;
      for (const { reader, scan: followed } of bystanders) {
        await reader.until(traffic.newest(followed.channel));
        expect(traffic.gapIn(followed.channel, reader)).toBeNull();
        expect(reader.closedAtMs).toBeNull();
      }
      for (const reader of [...again, ...bystanders.map(({ reader }) => reader)]) reader.leave();
      record({
        fault: "clients reset their connections",
        client: "-",
        soon:
          runtime === "Workers"
            ? `within two heartbeats (${heartbeatSeconds[runtime]} s here: ${maxStreamsPerTenant} places are taken again after ${seconds(freeMs)})`
            : `${maxStreamsPerTenant} places are taken again after ${seconds(freeMs)}`,
        recovers: "a reconnect opens a new stream",
        lost: "nothing of others",
      });
    });

    // On Node `database.test.ts` has one that falls silent.
    if (runtime !== "Node" || isNightly) {
      test("a database that is cut off: prompt 503s, open streams go on, and close as revoked once their authority is stale", async () => {
        const openedAtMs = performance.now();
        const followed = await openAll();
        const cutAtMs = performance.now();
        gateway.databaseNetwork.refuse();
        const refusedMs = await expectUnavailable(["/api/v1/scans", streamPath()]);
        expect(refusedMs).toBeLessThan(5000);
        // They go on: what is published now still arrives.
        for (const { reader, scan } of followed) await reader.until(traffic.newest(scan.channel));
        await allClosed(followed, recheckSeconds * 4000 + 1500);
        expect(new Set(followed.map(({ reader }) => reader.closeReason))).toEqual(new Set(["revoked"]));
        expectComplete(followed);
        const closedMs = followed.map(({ reader }) => (reader.closedAtMs ?? Infinity) - cutAtMs);
        // Trust lasts two intervals from the last check, and each stream was checked when it was opened.
        expect(Math.min(...closedMs) + cutAtMs - openedAtMs).toBeGreaterThan(recheckSeconds * 2000);
        gateway.databaseNetwork.restore();
        const backMs = await untilReopened(traffic, scans, performance.now());
        expect(backMs).toBeLessThan(15_000);
        record({
          fault: "database cut off",
          client:
            "503 with `Retry-After`; open streams go on, and close as `revoked` when their authority is no longer known",
          soon: `503 after ${seconds(refusedMs)}; streams between two and four recheck intervals later (${recheckSeconds} s here: the last after ${seconds(Math.max(...closedMs))})`,
          recovers: `${seconds(backMs)} after it is back`,
          lost: "no event between `open` and close",
        });
      });

      if (!isNightly) return;
      test("a broker that falls silent, its connections open: every stream closes as lost within the bound", async () => {
        const followed = await openAll();
        const stalledAtMs = performance.now();
        gateway.brokerNetwork.stall();
        const lostMs = await untilLost(followed, stalledAtMs, silenceBoundMs);
        expect(lostMs).toBeLessThan(silenceBoundMs);
        gateway.brokerNetwork.restore();
        const backMs = await untilReopened(traffic, scans, performance.now());
        record({
          fault: "broker silent, connections stay",
          client: "`: close lost`",
          soon: seconds(lostMs),
          recovers: `streams open ${seconds(backMs)} after it is back`,
          lost: "no event between `open` and close",
        });
      });
    }
  });
}

async function allClosed(followed: readonly Followed[], boundMs: number): Promise<void> {
  await expect
    .poll(() => followed.filter(({ reader }) => reader.closedAtMs === null).length, { timeout: boundMs, interval: 20 })
    .toBe(0);
}

interface Followed {
  readonly scan: FaultyScan;
  readonly reader: StreamReader;
}

/** An open stream on a socket of its own. */
async function openSocket({ streamUrl, authorization }: FaultyScan): Promise<Socket> {
  const { hostname, port, pathname } = new URL(streamUrl);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(`GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: ${authorization}\r\n\r\n`);
  const [head] = (await once(socket, "data")) as [Buffer];
  expect(head.toString("latin1")).toMatch(/^HTTP\/1\.1 200 /);
  return socket;
}
