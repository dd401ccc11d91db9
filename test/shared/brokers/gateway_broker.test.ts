import { expect, onTestFinished, test } from "vitest";
import {
  createGatewayBroker,
  type GatewayBrokerOptions,
  type GatewayBroker,
} from "../../../shared/brokers/gateway_broker.ts";
import { createChannel } from "../../broker_contract/broker_adapters.ts";
import { eventMessage, unavailability } from "../../broker_contract/broker_harness.ts";
import { startScriptedServer, status } from "../../support/scripted_server.ts";

const apiKey = "ssk_the-key";

function open(url: string, options: Partial<GatewayBrokerOptions> = {}): GatewayBroker {
  const broker = createGatewayBroker({ url, apiKey, ...options });
  onTestFinished(() => broker.close());
  return broker;
}

test.each([
  [401, /refused the API key \(401, SCANSTREAM_API_KEY\)/, 30],
  [403, /does not allow the API key this channel/, 30],
  [404, /does not know the resource/, 30],
  [429, /answered 429/, 2],
  [503, /answered 503/, 2],
  [200, /answered 200/, 30],
])("createGatewayBroker explains a %d to a publish", async (code, message, retryAfterSeconds) => {
  await using server = await startScriptedServer(status(code, {}, JSON.stringify({ detail: `no, ${apiKey}` })));
  const error = await unavailability(open(server.url).publish(createChannel(), eventMessage({ n: 1 })), [apiKey]);
  expect(error.message).toMatch(message);
  expect(error.message).toContain(server.url);
  expect(error.retryAfterSeconds).toBe(retryAfterSeconds);
  expect(String(error.cause)).toContain("no, [secret]");
});

test.each([
  ["7", 7],
  ["soon", 2],
])("createGatewayBroker passes on Retry-After: %s", async (header, seconds) => {
  await using server = await startScriptedServer(status(503, { "retry-after": header }));
  const error = await unavailability(open(server.url).publish(createChannel(), eventMessage({ n: 1 })), [apiKey]);
  expect(error.retryAfterSeconds).toBe(seconds);
});

test("createGatewayBroker sends the message as the body, with the key, to the encoded channel", async () => {
  const sent: unknown[] = [];
  const broker = open("https://gateway.example/base/", {
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const headers = [request.headers.get("authorization"), request.headers.get("content-type"), request.redirect];
      sent.push([request.method, request.url, ...headers, await request.text()]);
      return new Response("{}", { status: 202 });
    },
  });
  const channel = createChannel();
  await broker.publish(channel, eventMessage({ n: 1 }));
  const url = `https://gateway.example/base/api/v1/channels/${encodeURIComponent(channel)}/events`;
  const [event] = JSON.parse(String((sent[0] as readonly unknown[]).at(-1))).events as readonly object[];
  expect(sent).toEqual([["POST", url, `Api-Key ${apiKey}`, "application/json", "manual", expect.any(String)]]);
  expect(event).toEqual({ ...JSON.parse(eventMessage({ n: 1 })), delivery_id: expect.stringMatching(/\.1$/) });
});

function bodyOf(init: RequestInit | undefined): string {
  return typeof init?.body === "string" ? init.body : "";
}

test("createGatewayBroker keeps a batch within 500 events and a mebibyte, and the order over batches", async () => {
  const bodies: string[] = [];
  const broker = open("https://gateway.example", {
    fetch: async (_, init) => {
      bodies.push(bodyOf(init));
      return new Response(null, { status: 202 });
    },
  });
  const channel = createChannel();
  const messages = [
    ...Array.from({ length: 1200 }, (_, n) => eventMessage({ n })),
    ...Array.from({ length: 40 }, (_, n) => eventMessage({ n: 1200 + n, text: "€".repeat(20_000) })),
  ];
  await Promise.all(messages.map((message) => broker.publish(channel, message)));
  const batches = bodies.map((body) => JSON.parse(body) as { events: readonly { readonly delivery_id: string }[] });
  expect(Math.max(...batches.map(({ events }) => events.length))).toBe(500);
  expect(Math.max(...bodies.map((body) => Buffer.byteLength(body)))).toBeLessThanOrEqual(1_048_576);
  const events = batches.flatMap((batch) => batch.events);
  expect(events).toMatchObject(messages.map((message) => JSON.parse(message)));
  // By one producer, one after the other.
  const [producer] = events[0]?.delivery_id.split(".") ?? [];
  expect(events.map((event) => event.delivery_id)).toEqual(events.map((_, index) => `${producer}.${index + 1}`));
});

test("createGatewayBroker sends the events of a refused batch one by one, so that one costs no other", async () => {
  const taken: object[] = [];
  const broker = open("https://gateway.example", {
    fetch: async (_, init) => {
      const body = bodyOf(init);
      if (body.includes('"n":2')) return new Response(null, { status: 422 });
      taken.push(...(JSON.parse(body) as { events: readonly object[] }).events);
      return new Response(null, { status: 202 });
    },
  });
  const channel = createChannel();
  const results = await Promise.allSettled([1, 2, 3].map((n) => broker.publish(channel, eventMessage({ n }))));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(taken).toMatchObject([
    { data: { n: 1 }, delivery_id: expect.stringMatching(/\.1$/) },
    { data: { n: 3 }, delivery_id: expect.stringMatching(/\.2$/) },
  ]);
});

test.each([
  "",
  "gateway",
  "ftp://gateway",
  "https://user:pa55@gateway",
  "https://gateway?key=pa55",
  "https://gateway#pa55",
])("createGatewayBroker refuses %j as a URL and does not repeat it", (url) => {
  const create = () => createGatewayBroker({ url, apiKey });
  expect(create).toThrow(TypeError);
  expect(create).toThrow(/SCANSTREAM_URL is not valid: expected an https:/);
  expect(create).not.toThrow(/pa55/);
});

test.each(["", "two words", "line\nbreak", "käy"])("createGatewayBroker refuses %j as a key", (bad) => {
  const create = () => createGatewayBroker({ url: "https://gateway.example", apiKey: bad });
  expect(create).toThrow(/SCANSTREAM_API_KEY is not valid/);
});
