import { expect, test, vi } from "vitest";
import { channel, startStreamServer } from "../../support/stream_server.ts";
import { createScriptedSubscriber } from "../../support/scripted_subscriber.ts";

const head = "retry: 2000\n: open\n: terminal job.end 1\n";
const delta = (n: number) => `event: job.delta\ndata: {"n":${n}}\n\n`;
const nothing = { channels: 0, members: 0, subscriptions: 0, streams: 0 };

/** Streams of the gateway on Node; when things happen is proven in open_stream.test.ts, with fake clocks. */

test("S1: no byte is sent before the broker has confirmed, and every event published after `open` arrives", async () => {
  const subscriber = createScriptedSubscriber({ confirms: "by script" });
  await using server = await startStreamServer({ subscriber });
  const client = server.send();
  await expect.poll(() => server.streams.stats()).toMatchObject({ streams: 1, subscriptions: 1, members: 0 });
  subscriber.publish(channel, "job.delta", { n: 0 });
  // A round trip later.
  expect((await fetch(`http://127.0.0.1:${server.port}/none`)).status).toBe(404);
  expect(client.response).toBeNull();
  subscriber.newest(channel).confirm();
  await expect.poll(() => client.text).toBe(head);
  subscriber.publish(channel, "job.delta", { n: 1 });
  await expect.poll(() => client.text).toBe(head + delta(1));
});

test("S5: a client that disconnects while the broker confirms releases its slot at once and is never opened", async () => {
  const subscriber = createScriptedSubscriber({ confirms: "by script" });
  const count = vi.fn();
  await using server = await startStreamServer({ subscriber, count });
  const { request } = server.send();
  await expect.poll(() => server.streams.stats().streams).toBe(1);
  request.destroy();
  await expect.poll(() => server.streams.stats().streams).toBe(0);
  subscriber.newest(channel).confirm();
  await expect.poll(() => server.streams.stats()).toEqual(nothing);
  expect(count).not.toHaveBeenCalled();
});

test("S5: a gateway whose heartbeats come less often than clients expect tells them so", async () => {
  await using server = await startStreamServer({ bounds: { heartbeatSeconds: 60 } });
  const client = server.send();
  await expect.poll(() => client.text).toContain(": open\n: heartbeat-seconds 60\n");
});

test("S6: a burst cannot pass the limit while the broker confirms", async () => {
  const subscriber = createScriptedSubscriber({ confirms: "by script" });
  await using server = await startStreamServer({ subscriber, bounds: { maxStreamsPerTenant: 5 } });
  const clients = Array.from({ length: 20 }, () => server.send());
  const answered = (status: number) => clients.filter(({ response }) => response?.statusCode === status).length;
  await expect.poll(() => answered(429)).toBe(15);
  expect(server.streams.stats().streams).toBe(5);
  subscriber.newest(channel).confirm();
  await expect.poll(() => answered(200)).toBe(5);
});

test("S6: failed opens release their slots", async () => {
  const subscriber = createScriptedSubscriber({ confirms: "by script" });
  await using server = await startStreamServer({ subscriber, bounds: { maxStreamsPerTenant: 1 } });
  for (let round = 1; round <= 3; round += 1) {
    const client = server.send();
    await expect.poll(() => subscriber.subscriptions).toHaveLength(round);
    subscriber.newest(channel).refuse(new Error("away"));
    await expect.poll(() => client.response?.statusCode).toBe(503);
  }
  expect(server.streams.stats()).toEqual(nothing);
});
