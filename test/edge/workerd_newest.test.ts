import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runtimeContract } from "../contract/contract.ts";
import {
  createScan,
  eventually,
  keyOf,
  openStream,
  send,
  type GatewayUnderTest,
  type StreamReader,
} from "../contract/harness.ts";
import { launchChromium } from "../support/chromium.ts";
import { startEdgeBackends, type EdgeBackends } from "../support/edge_backends.ts";
import { resolveFromWrangler } from "../runtimes/programs.ts";
import { startWranglerDev, type WranglerDev } from "../support/wrangler_dev.ts";
import { casesWithout, describeGateway, smallBounds, toGatewayUnderTest } from "./gateway_under_test.ts";
import { runtimeComplaints } from "./runtime_complaints.ts";

// The same Worker at the newest date that the installed runtime knows, with room for many streams.
let backends: EdgeBackends;
let worker: WranglerDev;
let underTest: GatewayUnderTest;
let browser: Browser;
let issuer: Awaited<ReturnType<typeof startIssuer>>;

beforeAll(async () => {
  backends = await startEdgeBackends();
  // A crowd with a heartbeat each second would be kept from its work by it.
  const bounds = { ...smallBounds, EVENTSTREAM_HEARTBEAT_SECONDS: "5", EVENTSTREAM_MAX_STREAMS_PER_TENANT: "2500" };
  issuer = await startIssuer(backends.workerEnvironment["AUTH_JWKS"] ?? "");
  const keys = { AUTH_JWKS: "", AUTH_JWKS_URL: issuer.url };
  const environment = { ...backends.workerEnvironment, ...bounds, ...keys };
  worker = await startWranglerDev({ environment, compatibilityDate: newestDate() });
  underTest = { ...(await toGatewayUnderTest(backends, worker.url, bounds)), seesHeadersAsSent: false };
  browser = await launchChromium();
});

afterAll(async () => {
  await browser.close();
  await worker.stop();
  issuer.close();
  await backends.close();
});

/** Gives the keys that tokens are checked with: each request of a Worker has to ask for itself. */
async function startIssuer(keySet: string) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(keySet);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // A server that listens on a port has no other kind of address.
  return { url: `http://127.0.0.1:${port}/jwks.json`, close: () => server.close() };
}

/** workerd's version is the newest date that it knows: 1.20261117.1 knows 2026-11-17. */
function newestDate(): string {
  const { version } = createRequire(import.meta.url)(resolveFromWrangler("workerd/package.json")) as {
    readonly version: string;
  };
  const [, year, month, day] = /^\d+\.(\d{4})(\d{2})(\d{2})\./.exec(version) ?? [];
  return `${year}-${month}-${day}`;
}

// The bound of a tenant is another one here; see `workerd.test.ts` for the empty headers.
const cases = casesWithout(runtimeContract, "headers_as_sent").filter(({ name }) => !name.startsWith("S6: a tenant"));
describeGateway("the gateway on workerd at its newest date", cases, () => underTest);

test("Chromium's EventSource follows a scan to its end, and 204 ends it for good", async () => {
  const tenant = await backends.createTenant("Chromium");
  const scan = await createScan(underTest, tenant);
  const page = await browser.newPage();
  // The page's own origin: no CORS, and its policy allows the connection.
  await page.goto(worker.url);
  const followed = page.evaluate(
    async ([path, token]) => {
      const seen: string[] = [];
      const source = new EventSource(`${path}?access_token=${token}`);
      const closed = new Promise<void>((resolve) => {
        source.addEventListener("open", () => {
          seen.push("open");
          document.title = "following";
        });
        for (const type of ["scan.start", "scan.progress", "scan.end"]) {
          source.addEventListener(type, (event) => seen.push(`${type} ${String(event.data)}`));
        }
        // The stream ends after `scan.end`, the browser reconnects, and the 204 stops it.
        source.addEventListener("error", () => {
          if (source.readyState === EventSource.CLOSED) resolve();
        });
      });
      await closed;
      return seen;
    },
    [scan.event_stream, tenant.token] as const,
  );
  await page.waitForFunction(() => document.title === "following");
  await send(underTest, scan, { type: "scan.start", data: { scan_id: scan.id, checks_total: 1 } }, tenant);
  await send(underTest, scan, { type: "scan.progress", data: { scan_id: scan.id, checks_done: 1 } }, tenant);
  const patch = { method: "PATCH", headers: { authorization: keyOf(tenant), "content-type": "application/json" } };
  const body = JSON.stringify({ status: "completed", checks_done: 1, pass: 1 });
  const patched = await fetch(`${worker.url}/api/v1/scans/${scan.id}`, { ...patch, body });
  expect(patched.status).toBe(200);
  const end = { scan_id: scan.id, status: "completed", pass: 1, fail: 0, manual: 0, not_applicable: 0 };
  expect(await followed).toEqual([
    "open",
    `scan.start {"scan_id":"${scan.id}","checks_total":1}`,
    `scan.progress {"scan_id":"${scan.id}","checks_done":1}`,
    `scan.end ${JSON.stringify(end)}`,
  ]);
  await page.close();
});

test(
  "two thousand streams of a channel share one subscription, and cutting it closes them all",
  { timeout: 180_000 },
  async () => {
    const count = 2000;
    const tenant = await backends.createTenant("Crowd");
    const scan = await createScan(underTest, tenant);
    const openedBefore = backends.bridge.openedStreamCount;
    const streams: StreamReader[] = [];
    const startedMs = Date.now();
    while (streams.length < count) {
      const batch = Array.from({ length: 100 }, () =>
        openStream(underTest, scan.event_stream, `Bearer ${tenant.token}`),
      );
      streams.push(...(await Promise.all(batch)));
    }
    console.log(`2,000 streams in workerd were open after ${Date.now() - startedMs} ms`);
    await eventually(() => backends.bridge.streamCount === 1, "the other cases' subscriptions are gone");
    expect(backends.bridge.openedStreamCount - openedBefore).toBe(1);
    await send(underTest, scan, { type: "scan.progress", data: { n: 1 } }, tenant);
    await Promise.all(streams.map((stream) => stream.until('data: {"n":1}\n\n', 30_000)));
    backends.bridgeNetwork.cut();
    const ends = await Promise.all(streams.map((stream) => stream.untilEnd(30_000)));
    expect(ends.filter((text) => /retry: \d{4}\n: close lost\n $/.test(text))).toHaveLength(count);
    await backends.bridge.untilStreamCount(0);
  },
);

test("no request touched another request's I/O", () => {
  expect(runtimeComplaints(worker.output())).toEqual([]);
});
