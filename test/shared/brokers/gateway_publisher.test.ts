import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import { createGatewayPublisher, type GatewayBrokerOptions } from "../../../shared/brokers/gateway_publisher.ts";
import { unavailability } from "../../broker_contract/broker_harness.ts";
import { startScriptedServer, status } from "../../support/scripted_server.ts";
import { createScan, readStream, openTestGateway } from "../../support/test_gateway.ts";

const apiKey = "ssk_the-key";
const channel = `job:${randomUUID()}:1`;

const gateway = await openTestGateway();

/** Publishes numbers as progress. */
function open(options: Partial<GatewayBrokerOptions> = {}) {
  const { sendEvent, close } = createGatewayPublisher({ url: "https://gateway.example", apiKey, ...options });
  onTestFinished(close);
  return (n: number, to = channel, more = {}) => sendEvent(to, "job.progress", { n, ...more });
}

interface Body {
  readonly events: readonly { readonly data: { readonly n: number }; readonly delivery_id: string }[];
}

/** Answers each request, and keeps the bodies of those that are answered 202. */
function answering(answer: (body: Body) => number) {
  const taken: string[] = [];
  const fetch: GatewayBrokerOptions["fetch"] = async (input, init) => {
    const text = await new Request(input, init).text();
    const code = answer(JSON.parse(text) as Body);
    if (code === 202) taken.push(text);
    return new Response(null, { status: code });
  };
  return { fetch, taken: () => taken.map((text) => JSON.parse(text) as Body), texts: taken };
}

test.each<[code: number, message: RegExp, retryAfterSeconds: number, retryAfter?: string]>([
  [401, /refused the API key \(401, SCANSTREAM_API_KEY\)/, 30],
  [403, /does not allow the API key this channel/, 30],
  [404, /does not know the resource/, 30],
  [429, /answered 429/, 2],
  [503, /answered 503/, 2],
  [503, /answered 503/, 7, "7"],
  [200, /answered 200/, 30],
])("createGatewayPublisher explains a %d", async (code, message, retryAfterSeconds, retryAfter) => {
  const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  await using server = await startScriptedServer(status(code, headers, JSON.stringify({ detail: `no, ${apiKey}` })));
  const error = await unavailability(open({ url: server.url })(1), [apiKey]);
  expect(error.message).toMatch(message);
  expect(error.message).toContain(server.url);
  expect(error.retryAfterSeconds).toBe(retryAfterSeconds);
  expect(String(error.cause)).toContain("no, [secret]");
});

test("createGatewayPublisher does not take a proxy's 404 for the gateway's", async () => {
  await using server = await startScriptedServer(status(404, {}, "404 page not found"));
  const error = await unavailability(open({ url: server.url })(1), []);
  expect(error.message).toMatch(/ answered 404$/);
  expect(error.retryAfterSeconds).toBe(2);
});

test("createGatewayPublisher sends its key to the encoded channel, and to no redirect", async () => {
  const sent: unknown[] = [];
  const publish = open({
    url: "https://gateway.example/base/",
    fetch: async (input, init) => {
      const { method, url, headers, redirect } = new Request(input, init);
      sent.push([method, url, headers.get("authorization"), headers.get("content-type"), redirect]);
      return new Response("{}", { status: 202 });
    },
  });
  await publish(1);
  const url = `https://gateway.example/base/api/v1/channels/${encodeURIComponent(channel)}/events`;
  expect(sent).toEqual([["POST", url, `Api-Key ${apiKey}`, "application/json", "manual"]]);
});

test("createGatewayPublisher keeps a batch within 500 events and a mebibyte, and numbers over batches", async () => {
  const { fetch, taken, texts } = answering(() => 202);
  const publish = open({ fetch });
  const long = { text: "€".repeat(20_000) };
  await Promise.all(Array.from({ length: 1240 }, (_, n) => publish(n, channel, n < 1200 ? {} : long)));
  expect(Math.max(...taken().map(({ events }) => events.length))).toBeLessThanOrEqual(500);
  expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(1_048_576);
  const events = taken().flatMap((body) => body.events);
  const [producer] = events[0]?.delivery_id.split(".") ?? [];
  expect(events.map(({ data, delivery_id: id }) => [data.n, id])).toEqual(
    events.map((_, n) => [n, `${producer}.${n + 1}`]),
  );
});

test("createGatewayPublisher sends a refused batch in parts, so that one event costs no other", async () => {
  const { fetch, taken } = answering(({ events }) => (events.some(({ data }) => data.n === 2) ? 422 : 202));
  const publish = open({ fetch });
  const results = await Promise.allSettled([1, 2, 3].map((n) => publish(n)));
  expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(taken().map(({ events }) => [events[0]?.data.n, events[0]?.delivery_id.split(".")[1]])).toEqual([
    [1, "1"],
    [3, "2"],
  ]);
});

test("createGatewayPublisher asks a busy gateway once for a batch", async () => {
  let requests = 0;
  const publish = open({ fetch: answering(() => ((requests += 1), 429)).fetch });
  for (const attempt of [1, 2, 3].map((n) => publish(n))) await unavailability(attempt, []);
  expect(requests).toBe(1);
});

/** A publisher whose next request is lost, or whose next answer is, and the numbers on its scan's stream. */
async function startFaulty() {
  const { channel: to, event_stream: path } = await createScan(gateway, gateway.acme);
  const as = `Api-Key ${gateway.acme.apiKey}`;
  const stream = await gateway.request(path, { as });
  let fault: "request" | "answer" | null = null;
  const publish = open({
    url: gateway.url,
    apiKey: gateway.acme.apiKey,
    fetch: async (...request) => {
      const lost = fault;
      fault = null;
      if (lost === "request") throw new TypeError("fetch failed");
      const response = await fetch(...request);
      if (lost === "answer") throw new TypeError("fetch failed");
      return response;
    },
  });
  return {
    send: (n: number) => publish(n, to),
    async fail(what: "request" | "answer", ...numbers: readonly number[]) {
      fault = what;
      const attempts = numbers.map((n) => publish(n, to));
      for (const attempt of attempts) await unavailability(attempt, []);
    },
    async received(last: number) {
      const text = await readStream(stream, `"n":${last}}`);
      return Array.from(text.matchAll(/"n":(\d+)\}/g), ([, n]) => Number(n));
    },
  };
}

test.each(["request", "answer"] as const)(
  "an event that is sent again after its %s was lost is published once, and others go on",
  async (what) => {
    const { send, fail, received } = await startFaulty();
    await send(1);
    await fail(what, 2, 3);
    await Promise.all([2, 3, 4].map((n) => send(n)));
    await fail(what, 5, 6);
    for (const n of [5, 6, 7]) await send(n);
    await fail(what, 8);
    await fail(what, 8);
    await send(8);
    expect(await received(8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  },
);

test("a lost event that is not sent again is published before the next one", async () => {
  const { send, fail, received } = await startFaulty();
  await fail("answer", 1);
  await send(2);
  await fail("request", 3);
  await send(4);
  expect(await received(4)).toEqual([1, 2, 3, 4]);
});

test("an event like the lost one is another event a minute later", async () => {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ["Date"] });
  let code = 503;
  const { fetch, taken } = answering(() => code);
  const publish = open({ fetch });
  await unavailability(publish(1), []);
  code = 202;
  await publish(2);
  vi.setSystemTime(Date.now() + 61_000);
  for (const n of [1, 2]) await publish(n);
  expect(taken().flatMap(({ events }) => events.map(({ data }) => data.n))).toEqual([1, 2, 1, 2]);
});

test("a lost batch that the gateway then refuses holds no other event back", async () => {
  let code = 503;
  const { fetch, taken } = answering(({ events }) => (events.some(({ data }) => data.n === 1) ? code : 202));
  const publish = open({ fetch });
  await unavailability(publish(1), []);
  code = 422;
  await publish(2);
  await unavailability(publish(1), []);
  expect(taken().map(({ events }) => [events[0]?.data.n, events[0]?.delivery_id.split(".")[1]])).toEqual([[2, "1"]]);
});

test.each(["", "ftp://gateway", "https://user:pa55@gateway", "https://gateway?key=pa55", "https://gateway#pa55"])(
  "createGatewayPublisher refuses %j as a URL and does not repeat it",
  (url) => {
    const create = () => createGatewayPublisher({ url, apiKey });
    expect(create).toThrow(/url \(SCANSTREAM_URL\) is not valid: expected an http:\/\/ or https:/);
    expect(create).not.toThrow(/pa55/);
  },
);

test.each(["", "two words", "line\nbreak", "käy", undefined as never])(
  "createGatewayPublisher refuses %j as a key",
  (bad) => {
    expect(() => open({ apiKey: bad })).toThrow(/apiKey \(SCANSTREAM_API_KEY\) is not valid/);
  },
);
