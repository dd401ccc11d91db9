import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../drizzle/database.ts";
import { AppError } from "../../../shared/app_error.ts";
import { openTestPglite } from "../../support/pglite.ts";
import { sendRaw, type RawClient } from "../../support/raw_http_client.ts";
import { createScan, startTestGateway, type TestGateway, type TestScan } from "../../support/test_gateway.ts";

/** The whole gateway, its streams read byte by byte, where the contract in conformance/gateway does not reach. */

let pglite: Database;
let gateway: TestGateway;
let isDatabaseDown = false;
let statements = 0;
const clients: RawClient[] = [];

const recheckMs = 1000;

beforeAll(async () => {
  pglite = await openTestPglite();
  const database: Database = {
    ...pglite,
    async transact(sent) {
      statements += 1;
      if (isDatabaseDown) throw new AppError("unavailable", "The database cannot be reached", { retryAfterSeconds: 2 });
      return pglite.transact(sent);
    },
  };
  gateway = await startTestGateway({ EVENTSTREAM_RECHECK_SECONDS: String(recheckMs / 1000) }, { database });
});
afterAll(async () => {
  for (const { socket } of clients) socket.destroy();
  await gateway.stop();
});

async function open(scan: TestScan, authorization: string, query = ""): Promise<RawClient> {
  const client = await sendRaw({
    port: Number(new URL(gateway.url).port),
    path: scan.event_stream + query,
    headers: authorization === "" ? {} : { authorization },
  });
  clients.push(client);
  await client.until(() => client.raw().includes("\r\n\r\n"));
  return client;
}

const key = () => `Api-Key ${gateway.acme.apiKey}`;
const token = () => `Bearer ${gateway.acme.token}`;
const head = "retry: 2000\n: open\n";

test("the response head has the contract's headers and the app's own, once each", async () => {
  const client = await open(await createScan(gateway, gateway.acme), key());
  const names = [
    ...(client
      .raw()
      .split("\r\n\r\n")[0]
      ?.matchAll(/^([\w-]+):/gm) ?? []),
  ].map(([, name = ""]) => name.toLowerCase());
  expect(new Set(names).size).toBe(names.length);
  expect(Object.fromEntries(client.headers())).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
    "transfer-encoding": "chunked",
    vary: "Origin",
  });
  expect(names).toContain("x-request-id");
  expect(names).not.toContain("content-encoding");
  await client.untilBody(head);
});

test("a storm of one client's reconnects shares lookups", async () => {
  const scan = await createScan(gateway, gateway.acme);
  const before = statements;
  const startedMs = performance.now();
  const storm = await Promise.all(Array.from({ length: 100 }, () => open(scan, token())));
  const elapsedMs = performance.now() - startedMs;
  expect(storm.every((client) => client.status() === 200)).toBe(true);
  // One in 25 ms, the first, and the rechecks.
  expect(statements - before).toBeLessThanOrEqual(elapsedMs / 25 + 2 + elapsedMs / recheckMs / 0.15);
});

test("S9: no token of a stream is ever logged", async () => {
  const scan = await createScan(gateway, gateway.acme);
  await open(scan, "", `?access_token=${gateway.acme.token}`);
  await open(scan, "", "?access_token=not-a-token-but-secret");
  await open(scan, key());
  const log = gateway.log.join("\n");
  expect(log).toContain("event-stream");
  for (const secret of [gateway.acme.token, gateway.acme.apiKey, "not-a-token-but-secret"])
    expect(log).not.toContain(secret);
});

test("while the database is down open streams go on and new ones are 503, until trust expires", async () => {
  const scan = await createScan(gateway, gateway.acme);
  const client = await open(scan, key());
  isDatabaseDown = true;
  const downAtMs = performance.now();
  const refused = await open(scan, token());
  expect(refused.status()).toBe(503);
  expect(Number(refused.headers().get("retry-after"))).toBeGreaterThan(0);
  await client.until(() => client.isComplete());
  expect(client.body()).toMatch(/: close revoked\n $/);
  expect(performance.now() - downAtMs).toBeGreaterThan(1.5 * recheckMs);
  expect(performance.now() - downAtMs).toBeLessThan(6 * recheckMs);
  isDatabaseDown = false;
  await expect.poll(async () => (await open(scan, token())).status()).toBe(200);
});
