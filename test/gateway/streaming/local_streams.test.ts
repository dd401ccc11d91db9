import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createMemoryBroker } from "../../../shared/brokers/memory.ts";
import { makeChannelName } from "../../../shared/channel_name.ts";
import { createPublisher } from "../../../shared/send_event.ts";
import { noStreamMetrics, type StreamMetrics } from "../../../gateway/observability/stream_metrics.ts";
import {
  channel,
  createSlowBroker,
  otherTenantId,
  resourceId,
  sinks,
  startStreamServer,
} from "../../support/stream_server.ts";
import { createScriptedSubscriber } from "../../support/scripted_subscriber.ts";

const head = "retry: 2000\n: open\n: terminal job.end 1\n";
const delta = (n: number) => `event: job.delta\ndata: {"n":${n}}\n\n`;
const text = "x".repeat(60_000);
const nothing = { channels: 0, members: 0, subscriptions: 0, streams: 0 };

// What @hono/node-server writes when the portable sink has to destroy its body; the gateway on Node uses the other sink.
beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => {
  for (const [error] of vi.mocked(console.error).mock.calls) expect(String(error)).toBe("Error: The stream was closed");
  vi.restoreAllMocks();
});

/** Counts what happened to streams. */
function createMetrics() {
  const closed: string[] = [];
  const refused: string[] = [];
  let opened = 0;
  let delivered = 0;
  const metrics: StreamMetrics = {
    ...noStreamMetrics,
    opened: () => void (opened += 1),
    closed: (reason) => void closed.push(reason),
    refused: (code) => void refused.push(code),
    delivered: (events) => void (delivered += events),
  };
  return { metrics, closed, refused, opened: () => opened, delivered: () => delivered };
}

// When things happen is proven in open_stream.test.ts and recheck.test.ts, with fake clocks.
describe.each(Object.entries(sinks))("streams over the %s", (_name, createSink) => {
  test("S1: no byte is sent before the broker has confirmed, and every event published after `open` arrives", async () => {
    const { broker, subscriber, confirm } = createSlowBroker();
    await using server = await startStreamServer({ createSink, subscriber });
    const client = await server.send();
    await expect.poll(() => server.streams.stats()).toMatchObject({ streams: 1, subscriptions: 1, members: 0 });
    await createPublisher(broker).sendEvent(channel, "job.delta", { n: 0 });
    // A round trip later.
    expect((await fetch(`http://127.0.0.1:${server.port}/none`)).status).toBe(404);
    expect(client.raw()).toBe("");
    confirm();
    await client.untilBody(head);
    await createPublisher(broker).sendEvent(channel, "job.delta", { n: 1 });
    expect(await client.untilBody(delta(1))).toBe(head + delta(1));
    expect(client.headers().get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(client.headers().get("cache-control")).toBe("no-store, no-transform");
    expect(client.headers().get("x-accel-buffering")).toBe("no");
  });

  test("delivers every event of a burst, in order, to every stream of the channel and to no other", async () => {
    const broker = createMemoryBroker();
    const otherChannel = makeChannelName("job", otherTenantId, resourceId);
    await using server = await startStreamServer({ createSink, subscriber: broker });
    const clients = await Promise.all([server.open(), server.open(), server.open()]);
    const stranger = await server.open({ tenantId: otherTenantId }, { channels: [otherChannel] });
    for (let n = 0; n < 500; n += 1) {
      await createPublisher(broker).sendEvent(channel, "job.delta", { n });
      if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const expected = head + Array.from({ length: 500 }, (_, n) => delta(n)).join("");
    for (const client of clients) expect(await client.untilBody(delta(499))).toBe(expected);
    expect(stranger.body()).toBe(head);
  });

  test("S2, S6: a client that does not read is closed over its buffer limit, alone, and releases everything", async () => {
    const broker = createMemoryBroker();
    const counted = createMetrics();
    await using server = await startStreamServer({
      createSink,
      subscriber: broker,
      metrics: counted.metrics,
      bounds: { maxBufferBytes: 200_000 },
      closeGraceMs: 50,
    });
    const slow = await server.open();
    const fast = await server.open();
    slow.socket.pause();
    let sent = 0;
    // Kernel buffers take several megabytes before the bound is felt.
    while (counted.closed.length === 0 && sent < 500) {
      for (let n = 0; n < 5; n += 1) await createPublisher(broker).sendEvent(channel, "job.delta", { text });
      sent += 5;
      await fast.until(() => fast.receivedBytes() > sent * 60_000);
    }
    expect(counted.closed).toEqual(["slow"]);
    await expect.poll(() => server.streams.stats()).toMatchObject({ streams: 1, members: 1 });
    await createPublisher(broker).sendEvent(channel, "job.delta", { n: 1 });
    await fast.untilBody(delta(1));
  });

  test("a slow client that catches up in time reads its events and the close reason", async () => {
    const broker = createMemoryBroker();
    const counted = createMetrics();
    await using server = await startStreamServer({
      createSink,
      subscriber: broker,
      metrics: counted.metrics,
      bounds: { maxBufferBytes: 100_000 },
      closeGraceMs: 5000,
    });
    const slow = await server.open();
    slow.socket.pause();
    for (let sent = 0; sent < 500 && counted.closed.length === 0; sent += 1) {
      await createPublisher(broker).sendEvent(channel, "job.delta", { text });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(counted.closed).toEqual(["slow"]);
    slow.socket.resume();
    await slow.until(() => slow.isComplete());
    expect(slow.body().endsWith(`"}\n\n: close slow\n `)).toBe(true);
  });

  test.each(["destroy", "resetAndDestroy"] as const)(
    "S5: a client that disconnects with %s releases everything",
    async (leave) => {
      const counted = createMetrics();
      await using server = await startStreamServer({ createSink, metrics: counted.metrics });
      const client = await server.open();
      expect(server.streams.stats()).toEqual({ channels: 1, members: 1, subscriptions: 1, streams: 1 });
      client.socket[leave]();
      await expect.poll(() => server.streams.stats()).toEqual(nothing);
      expect(counted.closed).toEqual(["gone"]);
    },
  );

  test("S5: a client that disconnects while the broker confirms releases its slot at once and is never opened", async () => {
    const { subscriber, confirm } = createSlowBroker();
    const counted = createMetrics();
    await using server = await startStreamServer({ createSink, subscriber, metrics: counted.metrics });
    const client = await server.send();
    await expect.poll(() => server.streams.stats().streams).toBe(1);
    client.socket.destroy();
    await expect.poll(() => server.streams.stats().streams).toBe(0);
    confirm();
    await expect.poll(() => server.streams.stats()).toEqual(nothing);
    expect(counted.opened()).toBe(0);
  });

  test("S5: a gateway whose heartbeats come less often than clients expect tells them so", async () => {
    await using server = await startStreamServer({ createSink, bounds: { heartbeatSeconds: 60 } });
    const stream = await server.open();
    await stream.untilBody(": open\n: heartbeat-seconds 60\n");
  });

  test("S5: a client that reads no buffered bytes is closed although it stays under the limit", async () => {
    const broker = createMemoryBroker();
    const counted = createMetrics();
    await using server = await startStreamServer({
      createSink,
      subscriber: broker,
      metrics: counted.metrics,
      bounds: { heartbeatSeconds: 0.1, maxBufferBytes: 100_000_000 },
      closeGraceMs: 20,
    });
    const stuck = await server.open();
    stuck.socket.pause();
    for (let sent = 0; sent < 200; sent += 1) await createPublisher(broker).sendEvent(channel, "job.delta", { text });
    await expect.poll(() => counted.closed).toEqual(["slow"]);
    await expect.poll(() => server.streams.stats()).toEqual(nothing);
  });

  test("S7: drain refuses new streams and closes the open ones, each with a retry delay of its own", async () => {
    const counted = createMetrics();
    await using server = await startStreamServer({ createSink, metrics: counted.metrics });
    const clients = await Promise.all(Array.from({ length: 40 }, () => server.open()));
    const drained = server.streams.drain({ overMs: 400 });
    const late = await server.open();
    expect(late.status()).toBe(503);
    expect(late.headers().get("retry-after")).toBe("2");
    await drained;
    for (const client of clients) await client.until(() => client.isComplete());
    expect(server.streams.stats()).toEqual(nothing);
    const retries = new Set(clients.map((client) => /retry: (\d+)\n: close drain\n $/.exec(client.body())?.[1]));
    expect(retries.has(undefined)).toBe(false);
    expect(retries.size).toBeGreaterThan(5);
    for (const retry of retries) {
      expect(Number(retry)).toBeGreaterThanOrEqual(1000);
      expect(Number(retry)).toBeLessThanOrEqual(5000);
    }
    expect(counted.closed).toEqual(Array.from({ length: 40 }, () => "drain"));
  });
});

test("S6: a tenant's limit refuses one more with 429, and a released slot can be taken again", async () => {
  const counted = createMetrics();
  await using server = await startStreamServer({ bounds: { maxStreamsPerTenant: 3 }, metrics: counted.metrics });
  const clients = await Promise.all([server.open(), server.open(), server.open()]);
  expect(clients.map((client) => client.status())).toEqual([200, 200, 200]);
  const refused = await server.open();
  expect(refused.status()).toBe(429);
  expect(Number(refused.headers().get("retry-after"))).toBeGreaterThanOrEqual(2);
  expect(JSON.parse(refused.body())).toMatchObject({ code: "too_many", status: 429 });
  expect(counted.refused).toEqual(["too_many"]);
  const otherChannel = makeChannelName("job", otherTenantId, resourceId);
  expect((await server.open({ tenantId: otherTenantId }, { channels: [otherChannel] })).status()).toBe(200);
  clients[0]?.socket.destroy();
  await expect.poll(() => server.streams.stats().streams).toBe(3);
  expect((await server.open()).status()).toBe(200);
});

test("S6: a burst cannot pass the limit while the broker confirms", async () => {
  const { subscriber, confirm } = createSlowBroker();
  await using server = await startStreamServer({ subscriber, bounds: { maxStreamsPerTenant: 5 } });
  const clients = await Promise.all(Array.from({ length: 20 }, () => server.send()));
  await expect.poll(() => clients.filter((client) => client.status() === 429)).toHaveLength(15);
  expect(server.streams.stats().streams).toBe(5);
  confirm();
  await expect.poll(() => clients.filter((client) => client.status() === 200)).toHaveLength(5);
});

test("S6: failed opens release their slots", async () => {
  const subscriber = createScriptedSubscriber({ confirms: "by script" });
  await using server = await startStreamServer({ subscriber, bounds: { maxStreamsPerTenant: 1 } });
  for (let round = 1; round <= 3; round += 1) {
    const client = await server.send();
    await expect.poll(() => subscriber.subscriptions).toHaveLength(round);
    subscriber.newest(channel).refuse(new Error("away"));
    await client.until(() => client.status() === 503);
  }
  expect(server.streams.stats()).toEqual(nothing);
});
