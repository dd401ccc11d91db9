import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runAdmin } from "../../../gateway/operator/call_admin.ts";
import { sealMessage } from "../../../gateway/operator/sealed_message.ts";
import { startRedis, type RedisServer } from "../../support/redis.ts";
import {
  createScan,
  member,
  openSharedDatabase,
  readStream,
  startTestGateway,
  type TestGateway,
  type TestScan,
} from "../../support/test_gateway.ts";

interface Listed {
  readonly matching: number;
  readonly gateways: readonly { readonly gateway: string; readonly matching: number }[];
  readonly streams: readonly Readonly<Record<string, unknown>>[];
}

/** Names no server: the operator's request goes through the broker alone. */
const elsewhere = "postgres://nobody@127.0.0.1:1/none";
const secret = "0123456789abcdef0123456789abcdef";

describe("gateways with a broker", () => {
  let redis: RedisServer;
  let shared: Awaited<ReturnType<typeof openSharedDatabase>>;
  let first: TestGateway;
  let second: TestGateway;
  let scan: TestScan;
  const operator = (STREAM_TOKEN_SECRET = secret) => ({
    DATABASE_URL: elsewhere,
    REDIS_URL: redis.url,
    STREAM_TOKEN_SECRET,
  });
  const list = async (args = {}) => (await runAdmin(operator(), "streams.list", args)) as Listed;
  const close = (args: Readonly<Record<string, string>>) => runAdmin(operator(), "streams.close", args);

  beforeAll(async () => {
    [redis, shared] = await Promise.all([startRedis(), openSharedDatabase()]);
    const options = { database: shared.database };
    first = await startTestGateway({ REDIS_URL: redis.url, STREAM_TOKEN_SECRET: secret }, options);
    second = await startTestGateway(
      { REDIS_URL: redis.url, STREAM_TOKEN_SECRET: secret },
      { ...options, issuerKey: first.issuerKey },
    );
    scan = await createScan(first, first.acme);
    const hears = async () =>
      expect(await redis.command("PUBSUB", "NUMSUB", "scanstream:2:operator")).toEqual(["scanstream:2:operator", 2]);
    await vi.waitFor(hears, { timeout: 30_000 });
  });
  afterAll(async () => {
    await Promise.all([first.stop(), second.stop()]);
    await shared.close();
    await redis.stop();
  });

  const open = async ({ url }: TestGateway, as: string, path: string) => {
    const abort = new AbortController();
    const response = await fetch(new URL(path, url), { headers: { authorization: as }, signal: abort.signal });
    expect(response.status).toBe(200);
    return { response, leave: () => abort.abort() };
  };

  test("the streams of every gateway are listed, and by tenant, principal and channel", async () => {
    const { acme, globex } = first;
    const streams = await Promise.all([
      open(first, `Bearer ${acme.token}`, scan.event_stream),
      open(second, `Api-Key ${acme.apiKey}`, scan.event_stream),
      open(second, `Api-Key ${globex.apiKey}`, "/api/v1/event-stream"),
    ]);
    const all = await list();
    expect(all.matching).toBe(3);
    expect(all.gateways.map(({ matching }) => matching).toSorted((a, b) => a - b)).toEqual([1, 2]);
    const ofUser = await list({ principal: member });
    expect(ofUser.streams).toEqual([
      {
        gateway: expect.stringMatching(/:\d+:[0-9a-f]{8}$/),
        tenant_id: acme.id,
        principal_kind: "user",
        principal: member,
        channel: scan.channel,
        channels: 1,
        age_seconds: expect.any(Number),
        buffered_bytes: 0,
      },
    ]);
    expect(await list({ tenant: globex.id })).toMatchObject({ matching: 1 });
    expect(await list({ channel: scan.channel })).toMatchObject({ matching: 2 });
    expect((await list({ limit: "1" })).streams).toHaveLength(1);
    for (const { leave } of streams) leave();
    await expect.poll(async () => (await list()).matching, { timeout: 20_000 }).toBe(0);
  });

  test("closed streams end with the operator's reason and a retry of their own, and others stay", async () => {
    const other = await open(first, `Api-Key ${first.globex.apiKey}`, "/api/v1/event-stream");
    const { response } = await open(second, `Bearer ${first.acme.token}`, scan.event_stream);
    expect(await close({ tenant: first.acme.id, channel: scan.channel })).toMatchObject({ closed: 1 });
    expect(await readStream(response, "no such text")).toMatch(/retry: [1-4]\d{3}\n+: close operator\n/);
    expect(await list()).toMatchObject({ matching: 1 });
    other.leave();
  });

  test("no key publishes on the operators' channel over HTTP", async () => {
    const response = await first.request("/api/v1/channels/operator/events", {
      as: `Api-Key ${first.acme.apiKey}`,
      json: { type: "streams.close", data: {} },
    });
    expect(response.status).toBe(403);
  });

  test("a producer with the broker's password is no operator: nothing but a fresh, sealed request is obeyed", async () => {
    const stream = await open(first, `Bearer ${first.acme.token}`, scan.event_stream);
    const request = { operation: "streams.close", args: { channel: scan.channel } };
    const fresh = { ...request, id: randomUUID(), at_ms: Date.now() };
    const forged = [
      "{",
      JSON.stringify(fresh),
      sealMessage("another secret of the same length", fresh),
      sealMessage(secret, { ...fresh, at_ms: Date.now() - 60_000 }),
      sealMessage(secret, { ...fresh, id: scan.channel }),
      sealMessage(secret, fresh).replace("channel", "tenants"),
    ];
    for (const message of forged) await redis.command("PUBLISH", "scanstream:2:operator", message);
    await expect(runAdmin(operator(secret.toUpperCase()), "streams.list", {})).rejects.toThrow(
      "No gateway has answered",
    );
    expect((await list()).matching).toBe(1);

    // The same request, unchanged: once. What is published later is received later.
    const closings = () =>
      [...first.log, ...second.log].filter((line) => line.includes("closed by the operator")).length;
    const before = closings();
    const sealed = sealMessage(secret, fresh);
    for (let time = 0; time < 2; time += 1) await redis.command("PUBLISH", "scanstream:2:operator", sealed);
    expect(await readStream(stream.response, "no such text")).toContain(": close operator");
    await list();
    expect(closings() - before).toBe(2);
  });
});

describe("wrong use", () => {
  test.each([
    [{}, "No streams are selected"],
    [{ tenant: "Acme" }, "--tenant is not valid"],
    [{ channel: "scan" }, "--channel is not valid"],
    [{ principal: "" }, "--principal is not valid"],
    [{ tenant: "8b9df7a5-3c1f-4f53-9a3e-0f6c1d6a2b11", limit: "0" }, "--limit is not valid"],
  ])("%j is refused before anything is asked", async (args, message) => {
    await expect(runAdmin({ DATABASE_URL: elsewhere }, "streams.close", args)).rejects.toThrow(message);
  });

  test("without a broker and its secret the variables are named", async () => {
    const asked = runAdmin({ DATABASE_URL: elsewhere }, "streams.list", {});
    await expect(asked).rejects.toThrow(/REDIS_URL or .* is required.*STREAM_TOKEN_SECRET: required/s);
  });
});
