import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTcpProxy } from "../support/tcp_proxy.ts";
import { startFaultyGateway, type FaultyScan } from "./faulty_gateway.ts";
import { recordFault, seconds } from "./reliability_table.ts";
import { openClientThatNeverReads, openReader } from "./stream_reader.ts";
import { startTraffic } from "./traffic.ts";

/** Clients that vanish, stall or crawl: they lose their own stream, and no other client notices. */

const here = "test/faults/clients.test.ts";
let faulty: Awaited<ReturnType<typeof startFaultyGateway>>;
let scan: FaultyScan;

beforeAll(async () => {
  // With heartbeats as they are, a client that takes nothing is closed for that after a minute: here its bound has to do it.
  faulty = await startFaultyGateway({ EVENTSTREAM_MAX_BUFFER_BYTES: "65536" });
  scan = await faulty.createScan(await faulty.createTenant("Acme"));
});
afterAll(() => faulty.close());

const openStreams = () => faulty.gateway.parts.streams.stats().streams;

/** How long it took. */
async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<number> {
  const startedMs = performance.now();
  await expect.poll(condition, { timeout: 20_000, interval: 20, message: what }).toBe(true);
  return performance.now() - startedMs;
}

test("clients that reset their connection, by the dozen, are gone at once with everything that was held for them", async () => {
  const { hostname, port, pathname } = new URL(scan.streamUrl);
  const sockets = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const socket = connect(Number(port), hostname);
      await once(socket, "connect");
      socket.write(`GET ${pathname} HTTP/1.1\r\nhost: x\r\nauthorization: ${scan.authorization}\r\n\r\n`);
      await once(socket, "data");
      return socket;
    }),
  );
  expect(openStreams()).toBe(50);
  expect(await faulty.subscriptions()).toBe(1);
  for (const socket of sockets) socket.resetAndDestroy();
  const freeMs = await until("no streams", () => openStreams() === 0);
  expect(freeMs).toBeLessThan(2000);
  const unsubscribedMs = await until("no subscriptions", async () => (await faulty.subscriptions()) === 0);
  expect(unsubscribedMs).toBeLessThan(10_000);
  recordFault(
    {
      fault: "client resets its connection",
      client: "-",
      soon: seconds(freeMs),
      recovers: `the place is free at once; the channel's subscription goes ${seconds(unsubscribedMs)} after its last stream`,
      lost: "nothing of others",
    },
    here,
  );
});

test("clients that end their half of the connection are closed, or read on: no place is held indefinitely", async () => {
  const { hostname, port, pathname } = new URL(scan.streamUrl);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  await once(socket, "connect");
  socket.write(`GET ${pathname} HTTP/1.1\r\nhost: x\r\nauthorization: ${scan.authorization}\r\n\r\n`);
  await once(socket, "data");
  socket.end();
  const startedMs = performance.now();
  socket.resume();
  await Promise.race([once(socket, "close"), until("the place is free", () => openStreams() === 0)]);
  const freeMs = performance.now() - startedMs;
  socket.destroy();
  await until("the place is free", () => openStreams() === 0);
  recordFault(
    {
      fault: "client ends its half of the connection",
      client: "the stream ends",
      soon: seconds(freeMs),
      recovers: "a reconnect opens a new stream",
      lost: "nothing of others",
    },
    here,
  );
});

test("a client that does not read is closed alone; the others miss nothing", async () => {
  const good = await openReader(scan.streamUrl, scan.authorization);
  const stuck = await Promise.all(
    Array.from({ length: 5 }, () => openClientThatNeverReads(scan.streamUrl, scan.authorization)),
  );
  const { channel } = scan;
  const fill = "x".repeat(30_000);
  const startedMs = performance.now();
  let sent = 0;
  while (openStreams() > 1) {
    const message = JSON.stringify({ type: "scan.delta", data: { n: sent, fill } });
    await faulty.producer.publish(channel, message);
    sent += 1;
    if (performance.now() - startedMs > 20_000) throw new Error("The clients that do not read are still open");
  }
  const closedMs = performance.now() - startedMs;
  await good.until(sent - 1);
  expect(good.numbers).toEqual(Array.from({ length: sent }, (_, n) => n));
  expect(good.closedAtMs).toBeNull();
  good.leave();
  for (const socket of stuck) socket.destroy();
  await until("no streams", () => openStreams() === 0);
  recordFault(
    {
      fault: "client reads nothing while much is sent",
      client: "`: close slow`, if it ever reads again",
      soon: `when more than its bound waits (64 KiB and the system's buffers here: ${seconds(closedMs)})`,
      recovers: "it reconnects and reads the state",
      lost: "nothing of others; its own stream is closed, not thinned out",
    },
    here,
  );
});

test("a client behind a network that crawls reads everything or is closed, never a part", async () => {
  const network = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(faulty.url).port) });
  const url = new URL(scan.streamUrl);
  url.port = String(network.port);
  const slow = await openReader(url.href, scan.authorization);
  const traffic = startTraffic(faulty.producer, { channels: [scan.channel], everyMs: 5 });
  await slow.until(20);
  network.slow(2000);
  await until("the client is far behind", () => traffic.newest(scan.channel) - (slow.numbers.at(-1) ?? 0) > 100);
  network.restore();
  await slow.until(traffic.newest(scan.channel));
  expect(slow.closedAtMs).toBeNull();
  expect(traffic.gapIn(scan.channel, slow)).toBeNull();
  network.truncate(40);
  await slow.closed;
  expect(traffic.gapIn(scan.channel, slow)).toBeNull();
  await until("no streams", () => openStreams() === 0);
  await traffic.stop();
  await network.close();
  recordFault(
    {
      fault: "client's network crawls, then ends in the middle of an event",
      client: "late events, then an end; half an event is none",
      soon: "at once",
      recovers: "it catches up, or reconnects",
      lost: "no event between `open` and close",
    },
    here,
  );
});
