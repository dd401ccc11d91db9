import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Agent, fetch } from "undici";
import { startCaddy, startNginx, type Proxy } from "../support/proxies.ts";
import { startRedis, type RedisServer } from "../support/redis.ts";
import { createScan, openSharedDatabase, startTestGateway, type TestGateway } from "../support/test_gateway.ts";

let redis: RedisServer;
let shared: Awaited<ReturnType<typeof openSharedDatabase>>;
let first: TestGateway;

beforeAll(async () => {
  [redis, shared] = await Promise.all([startRedis(), openSharedDatabase()]);
  first = await startTestGateway({ REDIS_URL: redis.url }, { database: shared.database });
});
afterAll(async () => {
  await first.stop();
  await shared.close();
  await redis.stop();
});

const startSecond = async () => {
  const { issuerKey } = first;
  return startTestGateway({ REDIS_URL: redis.url }, { database: shared.database, issuerKey });
};
const portOf = ({ url }: TestGateway) => Number(new URL(url).port);

describe.each([
  ["nginx", (ports: readonly number[]) => startNginx(ports)],
  ["Caddy", startCaddy],
] as const)("behind %s", (_name, start) => {
  let proxy: Proxy;
  let second: TestGateway;
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(new URL(path, proxy.url), { dispatcher: agent, headers });

  beforeAll(async () => {
    second = await startSecond();
    proxy = await start([portOf(first), portOf(second)]);
  });
  afterAll(async () => {
    await agent.destroy();
    await proxy.stop();
    await second.stop();
  });

  test("events arrive one by one and uncompressed, over both gateways", async () => {
    const scan = await createScan(first, first.acme);
    const headers = { authorization: `Api-Key ${first.acme.apiKey}`, "accept-encoding": "gzip" };
    const streams = await Promise.all(Array.from({ length: 4 }, () => get(scan.event_stream, headers)));
    const texts = streams.map((response) => {
      expect(response.status).toBe(200);
      expect(response.headers.get("content-encoding")).toBeNull();
      expect(response.headers.get("content-type")).toContain("text/event-stream");
      return readAll(response.body as unknown as ReadableStream<Uint8Array>);
    });
    for (const text of texts) await expect.poll(() => text.read).toContain(": open");
    const open = [first, second].map(({ gateway }) => gateway.parts.streams.stats().streams);
    expect(
      open.every((count) => count > 0),
      open.join(),
    ).toBe(true);
    for (const number of [1, 2]) {
      const type = "scan.progress";
      await first.request(`/api/v1/channels/${scan.channel}/events`, {
        as: `Api-Key ${first.acme.apiKey}`,
        json: { type, data: { scan_id: scan.id, number } },
      });
      // Before the next is published: nothing waits for more bytes.
      for (const text of texts) await expect.poll(() => text.read).toContain(`"number":${number}`);
    }
    await Promise.all(texts.map((text) => text.cancel()));
  });

  test("a report of any size that the gateway takes passes", async () => {
    const scan = await createScan(first, first.acme);
    const headers = { authorization: `Api-Key ${first.acme.apiKey}`, "content-type": "application/json" };
    const most = "{}".padEnd(32 * 1024 * 1024);
    for (const [body, status] of [
      [most, 422],
      [`${most} `, 413],
    ] as const) {
      const url = new URL(`/api/v1/scans/${scan.id}/report`, proxy.url);
      const response = await fetch(url, { method: "PUT", dispatcher: agent, headers, body });
      expect([response.status, response.headers.get("content-type")]).toEqual([status, "application/problem+json"]);
      await response.text();
    }
  });

  test("a request goes on to the other gateway when one has closed its port", async () => {
    await second.gateway.stop({ drainMs: 0 });
    const statuses: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      const response = await get("/api/v1/scans", { authorization: `Api-Key ${first.acme.apiKey}` });
      statuses.push(response.status);
      await response.arrayBuffer();
    }
    expect(statuses).toEqual(Array.from({ length: 10 }, () => 200));
  });
});

test("nginx speaks HTTP/2, and its log has no query", async () => {
  const proxy = await startNginx([portOf(first), portOf(first)]);
  const agent = new Agent({ allowH2: true, connect: { rejectUnauthorized: false } });
  const response = await fetch(new URL("/api/v1/scans?access_token=correct-horse", proxy.url), { dispatcher: agent });
  expect(response.status).toBe(401);
  await expect.poll(() => proxy.accessLog()).toMatch(/"GET \/api\/v1\/scans HTTP\/2\.0" 401/);
  expect(await proxy.accessLog()).not.toContain("correct-horse");
  await agent.destroy();
  await proxy.stop();
});

function readAll(body: ReadableStream<Uint8Array>) {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader() as ReadableStreamDefaultReader<string>;
  const text = { read: "", cancel: () => reader.cancel() };
  void (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text.read += value;
    }
  })();
  return text;
}
