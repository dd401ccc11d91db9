import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../../drizzle/database.ts";
import { asOwner } from "../../../../drizzle/with_tenant.ts";
import { createMonitorClient, eventsIn } from "../../../support/monitor_requests.ts";
import { openTestPglite } from "../../../support/pglite.ts";
import { problemOf, readStream, startTestGateway, type TestGateway } from "../../../support/test_gateway.ts";

let gateway: TestGateway;
let database: Database;

beforeAll(async () => {
  database = await openTestPglite();
  gateway = await startTestGateway({ CORS_ORIGINS: "https://page.example" }, { database });
});
afterAll(() => gateway.stop());

async function startWithDoorbell() {
  const monitor = createMonitorClient(gateway);
  await monitor.put();
  const made = await monitor.send("PUT", "/doorbell");
  expect(made.status).toBe(200);
  const { url, secret } = (await made.json()) as { readonly url: string; readonly secret: string };
  const ring = (authorization: string | null = secret, body: BodyInit = '{"eventType":"any"}') =>
    fetch(url, { method: "POST", body, headers: authorization === null ? {} : { authorization } });
  return { ...monitor, url, secret, ring };
}

test("a doorbell is made with its address and a secret that is shown once and stored as a hash", async () => {
  const { id, url, secret, send, read, ring } = await startWithDoorbell();
  expect(url).toBe(`${gateway.url}/hooks/okta/${id}`);
  expect(secret).toMatch(/^scd_[0-9a-f]{64}$/);
  expect(JSON.stringify(await read())).not.toContain("doorbell");
  const [row] = await asOwner(database, (db) =>
    db.execute<{ stored: string }>(sql`select monitors::text as stored from monitors where id = ${id}::uuid`),
  );
  expect(row?.stored).not.toContain(secret.slice(4));
  const behindProxy = await gateway.request(`/api/v1/monitors/${id}/doorbell`, {
    method: "PUT",
    as: `Api-Key ${gateway.acme.apiKey}`,
    headers: { "x-forwarded-proto": "https" },
  });
  expect(await behindProxy.json()).toMatchObject({ url: url.replace("http:", "https:") });
  // The last secret is worth nothing once another was made.
  expect((await send("PUT", "/doorbell")).status).toBe(200);
  expect((await ring()).status).toBe(401);
});

test("rings the tenant whose secret it is, where two tenants chose the same id", async () => {
  const { id, ring, stream, patch } = await startWithDoorbell();
  const as = `Api-Key ${gateway.globex.apiKey}`;
  const path = `/api/v1/monitors/${id}`;
  const json = { org_url: "https://globex.okta.com", interval_seconds: 10 };
  expect((await gateway.request(path, { as, method: "PUT", json })).status).toBe(201);
  const made = await gateway.request(`${path}/doorbell`, { as, method: "PUT" });
  const { secret } = (await made.json()) as { readonly secret: string };
  const followed = await stream();
  expect((await ring(secret)).status).toBe(204);
  await patch({ lag_seconds: 1 });
  expect(await readStream(followed, "monitor.updated")).not.toContain("doorbell");
  expect((await ring()).status).toBe(204);
});

test("the provider's verification is answered with its challenge", async () => {
  const { url } = await startWithDoorbell();
  const verify = (challenge: string | null) =>
    fetch(url, { headers: challenge === null ? {} : { "x-okta-verification-challenge": challenge } });
  for (const challenge of ["aW4tYS1yb3c", '<script>"', "x".repeat(1024)]) {
    const response = await verify(challenge);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(await response.json()).toEqual({ verification: challenge });
  }
  expect(await problemOf(await verify(null))).toMatchObject({ status: 400 });
  expect(await problemOf(await verify("x".repeat(1025)))).toMatchObject({ status: 400 });
});

test("a ring is 204 and reaches the stream; others within a second are 204 too, and one ring follows for all of them", async () => {
  const { id, ring, stream, patch } = await startWithDoorbell();
  const [first, second] = [await stream(), await stream()];
  const startedMs = performance.now();
  const rings = await Promise.all([ring(), ring(), ring(), ring()]);
  expect(rings.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
  await readStream(first, /"doorbell":true[^]*"doorbell":true/);
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(1000);
  await patch({ lag_seconds: 1 });
  const doorbell = { type: "monitor.progress", data: { monitor_id: id, doorbell: true } };
  expect(eventsIn(await readStream(second, "monitor.updated")).slice(0, -1)).toEqual([doorbell, doorbell]);
});

test("whoever may register asks for a look without a doorbell, and the stream hears it; not a viewer, not once it has ended", async () => {
  const { put, send, patch, stream, id } = createMonitorClient(gateway);
  const ask = (as?: string) => send("POST", "/check", undefined, as);
  expect(await problemOf(await ask())).toMatchObject({ status: 404, detail: "No such monitor" });
  await put();
  await gateway.gateway.admin("user.create", { tenant: gateway.acme.id, sub: "watcher", role: "viewer" });
  const viewer = `Bearer ${await gateway.sign({ tenant_id: gateway.acme.id, sub: "watcher" })}`;
  const followed = await stream();
  expect((await ask(viewer)).status).toBe(403);
  expect(await problemOf(await ask(`Api-Key ${gateway.globex.apiKey}`))).toMatchObject({ status: 404 });
  await patch({ lag_seconds: 1 });
  // The second one within a second is heard, too.
  expect([(await ask()).status, (await ask()).status]).toEqual([204, 204]);
  const heard = eventsIn(await readStream(followed, /"doorbell":true[^]*"doorbell":true/));
  const doorbell = { type: "monitor.progress", data: { monitor_id: id, doorbell: true } };
  expect(heard.filter(({ type }) => type === "monitor.progress")).toEqual([doorbell, doorbell]);
  expect(heard[0]?.type).toBe("monitor.updated");
  await patch({ status: "ended" });
  expect(await problemOf(await ask())).toMatchObject({ status: 409 });
});

test("without the secret a ring is 401 and publishes nothing", async () => {
  const { ring, secret, stream, patch } = await startWithDoorbell();
  const other = await startWithDoorbell();
  const text = readStream(await stream(), "monitor.updated");
  const wrong = [
    null,
    "",
    "x",
    secret.slice(0, -1),
    `${secret}0`,
    secret.toUpperCase(),
    `Bearer ${secret}`,
    other.secret,
  ];
  for (const authorization of wrong) {
    const problem = await problemOf(await ring(authorization));
    expect(problem, String(authorization)).toMatchObject({ status: 401, code: "not_authenticated" });
    expect(problem.detail).not.toContain(secret);
  }
  await patch({ lag_seconds: 1 });
  expect(eventsIn(await text).map(({ type }) => type)).toEqual(["monitor.updated"]);
});

test("is 404 for an unknown monitor, one without a doorbell, one that has ended and one that was deleted", async () => {
  const withoutDoorbell = createMonitorClient(gateway);
  await withoutDoorbell.put();
  const ended = await startWithDoorbell();
  await ended.patch({ status: "ended" });
  const deleted = await startWithDoorbell();
  await deleted.send("DELETE");
  for (const id of ["x", randomUUID(), withoutDoorbell.id, ended.id, deleted.id]) {
    for (const method of ["GET", "POST"]) {
      const response = await gateway.request(`/hooks/okta/${id}`, {
        method,
        headers: { authorization: ended.secret, "x-okta-verification-challenge": "x" },
      });
      expect(await problemOf(response)).toMatchObject({ status: 404, detail: "No such hook" });
    }
  }
});

test("a hook is not for pages: no preflight is answered, and no header lets an origin read", async () => {
  const { url, ring } = await startWithDoorbell();
  const origin = "https://page.example";
  const preflight = await fetch(url, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST" },
  });
  expect(preflight.status).toBe(405);
  const got = await fetch(url, { headers: { origin, "x-okta-verification-challenge": "x" } });
  for (const response of [preflight, got, await ring()]) {
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  }
});
