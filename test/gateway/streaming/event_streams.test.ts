import { afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "../../../drizzle/database.ts";
import { AppError } from "../../../shared/app_error.ts";
import { openTestPglite } from "../../support/pglite.ts";
import { sendRaw, type RawClient } from "../../support/raw_http_client.ts";
import { createScan, member, startTestGateway, type TestGateway, type TestScan } from "../../support/test_gateway.ts";

/** The whole gateway, its streams read byte by byte. */

let pglite: Database;
let gateway: TestGateway;
let isDatabaseDown: boolean;
let statements: number;
let clients: RawClient[];

const recheckMs = 1000;

beforeEach(async () => {
  pglite = await openTestPglite();
  isDatabaseDown = false;
  statements = 0;
  clients = [];
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
afterEach(async () => {
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

test("S4: within the recheck time of its revocation a key's streams are closed, and it opens none", async () => {
  const scan = await createScan(gateway, gateway.acme);
  const [revoked, kept] = await Promise.all([open(scan, key()), open(scan, token())]);
  await gateway.gateway.admin("api-key.revoke", { id: gateway.acme.apiKeyId });
  const revokedAt = performance.now();
  await revoked.until(() => revoked.isComplete());
  expect(performance.now() - revokedAt).toBeLessThan(2 * recheckMs);
  expect(revoked.body()).toBe(`${head}: close revoked\n `);
  expect((await open(scan, key())).status()).toBe(401);
  expect(kept.isComplete()).toBe(false);
});

test("S4: within the recheck time of leaving the tenant a member's streams are closed, also those of a stream token", async () => {
  const scan = await createScan(gateway, gateway.acme);
  const answer = await gateway.request("/api/v1/stream-tokens", { as: token(), json: { scan_id: scan.id } });
  const { access_token: streamToken } = (await answer.json()) as { access_token: string };
  const leaving = await Promise.all([open(scan, token()), open(scan, "", `?access_token=${streamToken}`)]);
  const kept = await open(scan, key());
  expect(leaving.map((client) => client.status())).toEqual([200, 200]);
  await gateway.gateway.admin("user.remove", { tenant: gateway.acme.id, sub: member });
  const removedAt = performance.now();
  for (const client of leaving) {
    await client.until(() => client.isComplete());
    expect(client.body()).toBe(`${head}: close revoked\n `);
  }
  expect(performance.now() - removedAt).toBeLessThan(2 * recheckMs);
  expect((await open(scan, token())).status()).toBe(403);
  expect(kept.isComplete()).toBe(false);
});

test("S4: a stream ends with the token that opened it", async () => {
  const scan = await createScan(gateway, gateway.acme);
  const exp = Math.floor(Date.now() / 1000) + 2;
  const short = await gateway.sign({ tenant_id: gateway.acme.id, sub: member, exp });
  const client = await open(scan, `Bearer ${short}`);
  await client.until(() => client.isComplete());
  expect(Math.abs(Date.now() - exp * 1000)).toBeLessThan(1500);
  expect(client.body()).toMatch(/: close expired\n $/);
  expect((await open(scan, `Bearer ${short}`)).status()).toBe(401);
});

test("a scan that has ended is 204 at once, and its followers received scan.end", async () => {
  const scan = await createScan(gateway, gateway.acme);
  const following = await Promise.all([open(scan, key()), open(scan, key())]);
  await gateway.request(`/api/v1/scans/${scan.id}`, { method: "PATCH", as: key(), json: { status: "completed" } });
  expect((await open(scan, key())).status()).toBe(204);
  expect((await open(scan, token())).status()).toBe(204);
  for (const client of following) {
    await client.until(() => client.isComplete());
    expect(client.body()).toContain("event: scan.end");
  }
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

test("S7: a gateway that stops closes its streams and their connections", async () => {
  const scan = await createScan(gateway, gateway.acme);
  const client = await open(scan, key());
  await gateway.gateway.stop({ drainMs: 50 });
  await client.closed();
  expect(client.isComplete()).toBe(true);
  expect(client.body()).toMatch(/retry: \d{4}\n: close drain\n $/);
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
