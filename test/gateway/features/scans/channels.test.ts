import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../../../drizzle/database.ts";
import { withTenant } from "../../../../drizzle/with_tenant.ts";
import { getChannels } from "../../../../gateway/features/scans/channels.ts";
import { NotFound } from "../../../../shared/app_error.ts";
import { openTestPglite } from "../../../support/pglite.ts";
import {
  createScan,
  problemOf,
  readStream,
  startTestGateway,
  type TestGateway,
} from "../../../support/test_gateway.ts";

let database: Database;
let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  database = await openTestPglite();
  gateway = await startTestGateway(
    {
      EVENTSTREAM_MAX_STREAMS_PER_TENANT: "2",
      EVENTSTREAM_MAX_STREAMS: "3",
      EVENTSTREAM_RECHECK_SECONDS: "1",
      CORS_ORIGINS: "https://app.test",
    },
    { database },
  );
  key = `Api-Key ${gateway.acme.apiKey}`;
});
afterAll(() => gateway.stop());

describe("getChannels", () => {
  const ask = (tenantId: string, id: string) =>
    withTenant(database, tenantId, (db) => getChannels({ db, params: { id } }));

  test("gives the scan's channel, built with the scan's own tenant", async () => {
    const scan = await createScan(gateway, gateway.acme);
    await expect(ask(gateway.acme.id, scan.id)).resolves.toEqual([`scan:${gateway.acme.id}:${scan.id}`]);
  });

  test("finds no scan of another tenant, and none that does not exist", async () => {
    const scan = await createScan(gateway, gateway.globex);
    await expect(ask(gateway.acme.id, scan.id)).rejects.toThrow(NotFound);
    await expect(ask(gateway.acme.id, "7c9e6679-7425-40de-944b-e07fc1f90ae7")).rejects.toThrow(NotFound);
  });

  test.each(["completed", "cancelled", "failed"])("answers that a scan which is %s has ended", async (status) => {
    const scan = await createScan(gateway, gateway.acme);
    await gateway.request(`/api/v1/scans/${scan.id}`, { method: "PATCH", json: { status }, as: key });
    await expect(ask(gateway.acme.id, scan.id)).resolves.toEqual({ ended: [scan.channel] });
  });
});

describe("the event stream", () => {
  test("has the promised headers and first bytes, whatever encoding the client accepts", async () => {
    const scan = await createScan(gateway, gateway.acme);
    const response = await gateway.request(scan.event_stream, {
      as: key,
      headers: { "accept-encoding": "gzip, br", origin: "https://app.test" },
    });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "access-control-allow-origin": "https://app.test",
      vary: "Origin",
    });
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.get("content-length")).toBeNull();
    expect(await readStream(response, ": open\n")).toMatch(/^retry: 2000\n: /);
  });

  test("closes when the key is revoked, or the member removed, also behind a stream token", async () => {
    const scan = await createScan(gateway, gateway.acme);
    const { admin } = gateway.gateway;
    const newKey = (await admin("api-key.create", { tenant: gateway.acme.id, name: "x" })) as {
      id: string;
      api_key: string;
    };
    const membership = { tenant: gateway.acme.id, sub: "leaver" };
    await admin("user.create", membership);
    const user = `Bearer ${await gateway.sign({ tenant_id: gateway.acme.id, sub: "leaver" })}`;
    const issued = await gateway.request("/api/v1/stream-tokens", { as: user, json: { scan_id: scan.id } });
    const { access_token: streamToken } = (await issued.json()) as { access_token: string };
    const streams = await Promise.all([
      gateway.request(scan.event_stream, { as: `Api-Key ${newKey.api_key}` }),
      gateway.request(`${scan.event_stream}?access_token=${streamToken}`),
    ]);
    const texts = Promise.all(streams.map((stream) => readStream(stream, /^\u0000/)));
    const endedMs = Date.now();
    await admin("api-key.revoke", { id: newKey.id });
    await admin("user.remove", membership);
    for (const text of await texts) expect(text).toMatch(/: close revoked\n $/);
    expect(Date.now() - endedMs).toBeLessThan(3000);
  });

  test("over the tenant's limit is 429, over the process's 503, and a closed stream makes room", async () => {
    const scan = await createScan(gateway, gateway.acme);
    const other = await createScan(gateway, gateway.globex);
    const open = async (path: string, as: string) => {
      const abort = new AbortController();
      const response = await fetch(new URL(path, gateway.url), {
        headers: { authorization: as, origin: "https://app.test" },
        signal: abort.signal,
      });
      return { response, leave: () => abort.abort() };
    };
    const otherKey = `Api-Key ${gateway.globex.apiKey}`;
    const first = await openWhenFree(() => open(scan.event_stream, key));
    const second = await openWhenFree(() => open(scan.event_stream, key));
    const { response: tooMany } = await open(scan.event_stream, key);
    const third = await openWhenFree(() => open(other.event_stream, otherKey));
    const { response: full } = await open(other.event_stream, otherKey);
    for (const refused of [tooMany, full]) {
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(refused.headers.get("access-control-allow-origin")).toBe("https://app.test");
    }
    expect(await problemOf(tooMany)).toMatchObject({ status: 429, code: "too_many" });
    expect(await problemOf(full)).toMatchObject({ status: 503, code: "unavailable" });
    first.leave();
    const again = await openWhenFree(() => open(scan.event_stream, key));
    for (const stream of [second, third, again]) stream.leave();
  });
});

/** A client that left is noticed a moment later. */
async function openWhenFree(
  open: () => Promise<{ response: Response; leave: () => void }>,
): Promise<{ response: Response; leave: () => void }> {
  for (;;) {
    const stream = await open();
    if (stream.response.status === 200) return stream;
    await stream.response.body?.cancel();
  }
}
