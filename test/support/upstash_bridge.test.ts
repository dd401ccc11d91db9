import { Redis as UpstashRedis } from "@upstash/redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRedis, type RedisServer } from "./redis.ts";
import { startUpstashBridge, type UpstashBridge } from "./upstash_bridge.ts";

let redis: RedisServer;
let bridge: UpstashBridge;

beforeAll(async () => {
  redis = await startRedis();
  bridge = await startUpstashBridge({ redisUrl: redis.url });
});

afterAll(async () => {
  await bridge.close();
  await redis.stop();
});

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function ask(path: string, init: RequestInit = {}, token: string | null = bridge.token): Promise<Answer> {
  const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...(init.headers as object) };
  const response = await fetch(`${bridge.url}${path}`, { ...init, headers });
  return { status: response.status, body: await response.json() };
}

const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers,
});

test("the bridge takes a command as a path, with a body and a query as more arguments", async () => {
  expect(await ask("/set/path-key/a%2Fb%20c")).toEqual({ status: 200, body: { result: "OK" } });
  expect(await ask("/get/path-key")).toEqual({ status: 200, body: { result: "a/b c" } });
  expect(await ask("/set/path-key?EX=100&XX", post("the body"))).toEqual({ status: 200, body: { result: "OK" } });
  expect(await ask("/get/path-key")).toEqual({ status: 200, body: { result: "the body" } });
  expect((await ask("/ttl/path-key")).body).toEqual({ result: 100 });
});

test("the bridge takes a command as a JSON array", async () => {
  expect(await ask("/", post(["SET", "n", 12.5, "EX", 100]))).toEqual({ status: 200, body: { result: "OK" } });
  expect((await ask("/", post(["MGET", "n", "missing"]))).body).toEqual({ result: ["12.5", null] });
  for (const bad of ["", "{", "{}", "[]", "[[]]", '"GET"', "[null]"]) {
    expect(await ask("/", post(bad))).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^ERR /) } });
  }
});

test("the bridge answers a pipeline item by item and a transaction as a whole", async () => {
  const commands = [
    ["SET", "t", "1"],
    ["INCR", "t"],
    ["LPUSH", "t", "x"],
    ["GET", "t"],
  ];
  const replies = [{ result: "OK" }, { result: 2 }, { error: expect.stringMatching(/^WRONGTYPE/) }, { result: "2" }];
  expect(await ask("/pipeline", post(commands))).toEqual({ status: 200, body: replies });
  expect(await ask("/multi-exec", post(commands))).toEqual({ status: 200, body: replies });
  const discarded = await ask("/multi-exec", post([["SET", "t", "9"], ["NOSUCH"]]));
  expect(discarded).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^EXECABORT/) } });
  expect((await ask("/get/t")).body).toEqual({ result: "2" });
});

test("the bridge encodes every string but OK when asked for base64", async () => {
  const encoded = { "upstash-encoding": "base64" };
  await ask("/", post(["RPUSH", "list", "test", "OK", "漢"]));
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  expect((await ask("/", post(["LRANGE", "list", 0, -1], encoded))).body).toEqual({
    result: [base64("test"), "OK", base64("漢")],
  });
  expect((await ask("/", post(["SET", "b", "x"], encoded))).body).toEqual({ result: "OK" });
  expect((await ask("/", post(["LLEN", "list"], encoded))).body).toEqual({ result: 3 });
  expect((await ask("/", post(["GET", "missing"], encoded))).body).toEqual({ result: null });
  expect((await ask("/pipeline", post([["GET", "b"]], encoded))).body).toEqual([{ result: base64("x") }]);
  expect((await ask("/multi-exec", post([["GET", "b"]], encoded))).body).toEqual([{ result: base64("x") }]);
});

test("the bridge refuses without, with a wrong and with a read-only token", async () => {
  const refused = { status: 401, body: { error: "WRONGPASS invalid or missing auth token" } };
  expect(await ask("/ping", {}, null)).toEqual(refused);
  expect(await ask("/ping", {}, "wrong")).toEqual(refused);
  expect(await ask("/subscribe/x", { method: "POST" }, "wrong")).toEqual(refused);
  expect(await ask(`/ping?_token=${bridge.token}`, {}, null)).toEqual({ status: 200, body: { result: "PONG" } });
  expect((await ask("/get/x", {}, bridge.readOnlyToken)).status).toBe(200);
  for (const command of ["/set/x/y", "/publish/x/y", "/nosuch"]) {
    const answer = await ask(command, {}, bridge.readOnlyToken);
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^NOPERM/) } });
  }
});

test("the bridge refuses what would change or block the connection that all share", async () => {
  for (const command of [
    ["SELECT", 3],
    ["BLPOP", "x", 0],
    ["SUBSCRIBE", "x"],
    ["XREAD", "BLOCK", 0, "STREAMS", "s", "$"],
  ]) {
    const answer = await ask("/", post(command));
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(/not available/) } });
  }
  expect((await ask("/ping", { method: "DELETE" })).status).toBe(405);
  expect((await ask("/get")).body).toMatchObject({ error: expect.stringMatching(/wrong number of arguments/) });
  expect((await ask("/ping")).body).toEqual({ result: "PONG" });
});

test.each([
  ["subscribe", "ch/1,é", `data: subscribe,ch/1,é,1\n\n`, `data: message,ch/1,é,a,b\n\n`],
  ["psubscribe", "ch/*", `data: psubscribe,ch/*,1\n\n`, `data: pmessage,ch/*,ch/1,é,a,b\n\n`],
])("the bridge streams %s, confirmed first", async (kind, channel, confirmation, message) => {
  const leaving = new AbortController();
  const response = await fetch(`${bridge.url}/${kind}/${encodeURIComponent(channel)}`, {
    headers: { authorization: `Bearer ${bridge.token}` },
    signal: leaving.signal,
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe(confirmation);
  await ask("/", post(["PUBLISH", "ch/1,é", "a,b"]));
  expect((await reader?.read())?.value).toBe(message);
  leaving.abort();
  await bridge.untilStreamCount(0);
});

test("the bridge serves the vendor's own client", async () => {
  const client = new UpstashRedis({ url: bridge.url, token: bridge.token, enableTelemetry: true });
  await client.set("sdk", { text: "test", n: 1 });
  expect(await client.get("sdk")).toEqual({ text: "test", n: 1 });
  await client.set("plain", "test");
  expect(await client.get("plain")).toBe("test");
  const results = await client.multi().incr("counter").lpush("queue", "a", "b").lrange("queue", 0, -1).exec();
  expect(results).toEqual([1, 2, ["b", "a"]]);
  await expect(client.lpush("plain", "x")).rejects.toThrow(/WRONGTYPE/);
  expect(await client.publish("nobody", "hears")).toBe(0);

  const heard = Promise.withResolvers<unknown>();
  const subscriber = client.subscribe<unknown>("sdk-channel");
  const subscribed = Promise.withResolvers<void>();
  subscriber.on("subscribe", () => subscribed.resolve());
  subscriber.on("message", ({ message }) => heard.resolve(message));
  await subscribed.promise;
  await client.publish("sdk-channel", { n: 2 });
  expect(await heard.promise).toEqual({ n: 2 });
  await subscriber.unsubscribe();
  await bridge.untilStreamCount(0);
});
