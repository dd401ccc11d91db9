import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { afterAll, expect, onTestFinished, test } from "vitest";
import type { Broker } from "../../../shared/broker.ts";
import { maxMessageBytes } from "../../../shared/brokers/message.ts";
import { createRedisBroker } from "../../../shared/brokers/redis.ts";
import { createUpstashBroker, type UpstashBrokerOptions } from "../../../shared/brokers/upstash.ts";
import { createChannel, eventMessage, record, unavailability } from "../../broker_contract/broker_harness.ts";
import { listen } from "../../support/listen.ts";
import { startRedis } from "../../support/redis.ts";
import { startTcpProxy } from "../../support/tcp_proxy.ts";
import { startUpstashBridge } from "../../support/upstash_bridge.ts";

const token = "AX8sASQgN2M5-the-token";
const ignore = { onMessage() {}, onLost() {} };
const never = new AbortController().signal;

const redis = await startRedis();
afterAll(() => redis.stop());

async function startBridge() {
  const bridge = await startUpstashBridge(redis);
  onTestFinished(() => bridge.close());
  return bridge;
}

function open(url: string, options: Partial<UpstashBrokerOptions> = {}): Broker {
  const broker = createUpstashBroker({ url, token, database: 2, ...options });
  onTestFinished(() => broker.close());
  return broker;
}

/** An upstream whose answers the test defines. */
async function startUpstream(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const { url, close } = await listen(createServer(answer));
  onTestFinished(close);
  return url;
}

test("createUpstashBroker separates two database numbers, shares channels with createRedisBroker on the same one, and reports their end", async () => {
  const bridge = await startBridge();
  const channel = createChannel();
  const tcp = createRedisBroker({ url: redis.url, database: 2 });
  onTestFinished(() => tcp.close());
  const two = await record(open(bridge.url), channel);
  const five = await record(open(bridge.url, { database: 5 }), channel);
  const overTcp = await record(tcp, channel);
  await open(bridge.url, { database: 5 }).publish(channel, eventMessage({ n: 5 }));
  await five.untilCount(1);
  await tcp.publish(channel, eventMessage({ n: 1 }));
  await two.untilCount(1);
  await open(bridge.url).publish(channel, eventMessage({ n: 2 }));
  await overTcp.untilCount(2);
  await two.untilCount(2);
  expect(two.messages).toEqual([eventMessage({ n: 1 }), eventMessage({ n: 2 })]);
  expect(overTcp.messages).toEqual(two.messages);
  expect(five.messages).toEqual([eventMessage({ n: 5 })]);
  bridge.endStreams();
  for (const recording of [two, five]) expect(await recording.untilLost()).toBe("ended");
});

test("createUpstashBroker reports a subscription as silent when its ping does not come back", async () => {
  // The stream is open and nothing of the channel is forwarded: the half that a socket cannot show.
  const url = await startUpstream((request, response) => {
    if (request.url?.startsWith("/subscribe/") === true) {
      const key = decodeURIComponent(request.url.slice("/subscribe/".length));
      response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: subscribe,${key},1\n\n`);
    } else {
      response.writeHead(200, { "content-type": "application/json" }).end(`[{"result":1}]`);
    }
  });
  const recording = await record(open(url, { idleMs: 100, graceMs: 200 }), createChannel());
  expect(await recording.untilLost()).toBe("silent");
});

test("createUpstashBroker sends together what is published in one turn, in order, once and without telemetry", async () => {
  const requests: string[] = [];
  const url = await startUpstream((request, response) => {
    void (async () => {
      const body = await text(request);
      const vendor = Object.keys(request.headers).filter((name) => name.startsWith("upstash-"));
      requests.push(`${request.method} ${request.url} ${request.headers.authorization} ${vendor.join()} ${body}`);
      const replies = (JSON.parse(body) as unknown[]).map(() => ({ result: 0 }));
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(replies));
    })();
  });
  const messages = ["a", "b", '{"type":"c","text":"é\\u0000"}'];
  const broker = open(url);
  await Promise.all(messages.map((message) => broker.publish("ch", message)));
  const commands = messages.map((message) => ["publish", "scanstream:2:ch", message]);
  expect(requests).toEqual([`POST /pipeline Bearer ${token}  ${JSON.stringify(commands)}`]);
});

test("createUpstashBroker fails only the message that Upstash refused", async () => {
  const url = await startUpstream((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify([{ result: 1 }, { error: `ERR not this one, ${token}` }, { result: 1 }]));
  });
  const broker = open(url);
  const [first, second, third] = ["a", "b", "c"].map((message) => broker.publish("ch", message));
  const failure = unavailability(second ?? Promise.resolve(), [token]);
  await first;
  await third;
  await failure;
});

test("createUpstashBroker answers no ping with a token that may only read", async () => {
  const url = await startUpstream((request, response) => {
    const answer = (body: string) => JSON.stringify([/publish/i.test(body) ? { error: "NOPERM" } : { result: "PONG" }]);
    void text(request).then((body) => response.writeHead(200).end(answer(body)));
  });
  expect(String(await unavailability(open(url).ping(), [token]))).toContain("may not do that");
});

test.each([
  ["a refusal", 400, (body: string) => JSON.stringify({ error: `ERR failed to parse ${body}` })],
  ["a refusal without JSON", 502, (body: string) => `<h1>${encodeURIComponent(body)}</h1>`],
  ["a refused command", 200, (body: string) => JSON.stringify([{ error: `ERR unknown command, args: '${body}'` }])],
  ["an answer without JSON", 200, (body: string) => body.slice(2)],
])("createUpstashBroker keeps the payload out of the error on %s that repeats it", async (_, status, answer) => {
  const url = await startUpstream((request, response) => {
    void text(request).then((body) => response.writeHead(status).end(answer(body)));
  });
  const secret = "00u1-secret";
  const error = await unavailability(open(url).publish("ch", eventMessage({ who: secret })), [token]);
  expect(inspect(error, { depth: null, showHidden: true })).not.toContain(secret);
  expect(error.cause).toBeInstanceOf(Error);
});

test("createUpstashBroker does not publish twice when only the answer was lost", async () => {
  const bridge = await startBridge();
  const network = await startTcpProxy(bridge);
  onTestFinished(() => network.close());
  const channel = createChannel();
  const witness = await record(open(bridge.url), channel);
  const broker = open(`http://127.0.0.1:${network.port}`);
  await broker.ping();
  network.truncate(10);
  await unavailability(broker.publish(channel, eventMessage({ n: 1 })), [token]);
  network.restore();
  await broker.publish(channel, eventMessage({ n: 2 }));
  await witness.untilCount(2);
  expect(witness.messages).toEqual([eventMessage({ n: 1 }), eventMessage({ n: 2 })]);
});

test.each([
  ["invalid UTF-8", Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0x20, 0xff, 0xfe, 0x0a, 0x0a])],
  ["a line that does not end", `data: ${"x".repeat(maxMessageBytes + 10_000)}`],
  ["a frame of another channel", "data: message,scanstream:2:other,hello\n\n"],
  ["a frame without a kind", "data: hello\n\n"],
  ["a line that is no field", 'data: message,CHANNEL,{"a":\n1}\n\n'],
  ["a message over the bound", `data: message,CHANNEL,${"x".repeat(maxMessageBytes + 1)}\n\n`],
])("createUpstashBroker ends a subscription as garbage for %s", async (_, bytes) => {
  const bridge = await startBridge();
  const channel = createChannel();
  const broker = open(bridge.url);
  const recording = await record(broker, channel);
  bridge.writeRaw(typeof bytes === "string" ? bytes.replace("CHANNEL", `scanstream:2:${channel}`) : bytes);
  // An event without end is given up before it ends.
  if (bytes.includes("\n\n")) bridge.writeRaw(`data: message,scanstream:2:${channel},after\n\n`);
  expect(await recording.untilLost()).toBe("garbage");
  expect(recording.messages).toEqual([]);
  await expect.poll(() => bridge.streamCount()).toBe(0);
  const again = await record(broker, channel);
  await broker.publish(channel, eventMessage({ n: 1 }));
  await again.untilCount(1);
});

test.each([
  ["401", 401, "application/json", `{"error":"WRONGPASS ${token}"}`, /refused the token/],
  ["500 without JSON", 500, "text/html", "<h1>oops</h1>", /cannot be reached or does not serve/],
  ["429", 429, "application/json", `{"error":"ERR max daily request limit exceeded"}`, /does not serve/],
  ["200 that is no stream", 200, "application/json", "{}", /does not serve/],
  ["a stream that ends at once", 200, "text/event-stream", "", /does not serve/],
  ["a stream that confirms another channel", 200, "text/event-stream", "data: subscribe,x,1\n\n", /does not serve/],
])("createUpstashBroker refuses to subscribe on %s", async (_, status, contentType, body, message) => {
  const url = await startUpstream((_request, response) => {
    response.writeHead(status, { "content-type": contentType }).end(body);
  });
  const error = await unavailability(open(url).subscribe("ch", ignore, never), [token]);
  expect(error.message).toMatch(message);
  expect(error.cause).toBeInstanceOf(Error);
});

test("createUpstashBroker sends its token to no redirect target", async () => {
  const seen: (string | undefined)[] = [];
  const elsewhere = await startUpstream((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(200).end();
  });
  const url = await startUpstream((_, response) => {
    response.writeHead(307, { location: elsewhere }).end();
  });
  const broker = open(url);
  await unavailability(broker.subscribe("ch", ignore, never), [token]);
  await unavailability(broker.publish("ch", "message"), [token]);
  // The package follows a redirect of a publish; `fetch` leaves the token behind.
  expect(seen).toEqual([undefined]);
});
