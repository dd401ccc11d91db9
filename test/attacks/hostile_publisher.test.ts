import { connect } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from "vitest";
import type { EdgeTenant } from "../support/edge_backends.ts";
import { startRuntimeGateway, type FaultyGateway, type FaultyScan } from "../faults/faulty_gateway.ts";

/**
 * An attacker who can write to the broker: whatever is published, no client reads a line that is no event,
 * no tenant reads another's, and the gateway stays up.
 */

let faulty: FaultyGateway;
let acme: EdgeTenant;
let own: FaultyScan;
let foreign: FaultyScan;

interface RawStream {
  text(): string;
  closed: Promise<unknown>;
  until(part: string): Promise<void>;
  leave(): void;
}

let streams: RawStream[];

beforeAll(async () => {
  faulty = await startRuntimeGateway("Node");
  acme = await faulty.createTenant("Acme");
  own = await faulty.createScan(acme);
  foreign = await faulty.createScan(await faulty.createTenant("Globex"));
});
afterAll(() => faulty.close());
beforeEach(() => {
  streams = [];
});
afterEach(() => {
  for (const stream of streams) stream.leave();
});

async function follow(scan: FaultyScan): Promise<RawStream> {
  const { hostname, port, pathname } = new URL(scan.streamUrl);
  const socket = connect(Number(port), hostname);
  let received = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    received += text;
    socket.emit("grown");
  });
  const closed = once(socket, "close");
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: ${scan.authorization}\r\n\r\n`,
  );
  const stream: RawStream = {
    text: () => received,
    closed,
    async until(part) {
      while (!received.includes(part)) await once(socket, "grown");
    },
    leave: () => void socket.destroy(),
  };
  streams.push(stream);
  await stream.until(": open");
  return stream;
}

/** As Redis takes it from any client with its password. */
const publish = (scan: FaultyScan, text: string) =>
  faulty.backends.redis.command("PUBLISH", `scanstream:2:${scan.channel}`, text);

test.each([
  ["lines of its own in the data", `{"type":"scan.delta","data":{"a":"x"}}\n\nevent: scan.end\ndata: {}\n\n`],
  ["lines of its own in the type", `{"type":"scan.delta\\n\\nevent: scan.end","data":{}}`],
  ["a carriage return in the type", `{"type":"scan.delta\\rdata: forged","data":{}}`],
  [
    "an id, to be sent back as Last-Event-ID",
    `{"type":"scan.delta","data":{},"id":"1\\nevent: x"}\n`.trimEnd().slice(0, -1),
  ],
  ["a retry of a day", `retry: 86400000\n\n`],
  ["markup as data", `<script>alert(1)</script>`],
  ["two million characters", `{"type":"scan.delta","data":{"a":"${"x".repeat(2_000_000)}"}}`],
  ["a payload one byte over the bound", `{"type":"scan.delta","data":{"a":"${"x".repeat(65_536 - 7)}"}}`],
  ["a million levels", "[".repeat(1_000_000)],
  ["an end that names no scan", `{"type":"scan.end","data":{"status":"completed"}}`],
])(
  "%s: the channel's streams are closed as lost, without a byte of it; other channels are unaffected",
  async (_, text) => {
    const [victim, other] = await Promise.all([follow(own), follow(foreign)]);
    await publish(own, text);
    await victim.closed;
    const body = victim.text().slice(victim.text().indexOf("\r\n\r\n") + 4);
    expect(body).toMatch(/: close lost\n/);
    expect(body).not.toMatch(/^(?:event|data|id):/m);
    for (const [, retryMs] of body.matchAll(/^retry: (\d+)/gm)) expect(Number(retryMs)).toBeLessThanOrEqual(10_000);
    await publish(foreign, `{"type":"scan.delta","data":{"mine":true}}`);
    await other.until(`data: {"mine":true}`);
    expect(other.text()).not.toContain(": close lost");
  },
);

test("a message of 20 MB costs its own channel only: the other tenant's stream stays and misses nothing", async () => {
  const [mine, other] = await Promise.all([follow(own), follow(foreign)]);
  await publish(foreign, `{"type":"scan.delta","data":{"before":1}}`);
  await publish(own, "x".repeat(20_000_000));
  await publish(foreign, `{"type":"scan.delta","data":{"after":1}}`);
  await mine.closed;
  expect(mine.text()).toMatch(/: close lost\n/);
  await other.until(`{"before":1}`);
  await other.until(`{"after":1}`);
  expect(other.text()).not.toContain(": close lost");
});

test("a message over 32 MiB costs the connection, also where Redis has no such bound: every stream is closed, and may reconnect at once", async () => {
  await faulty.backends.redis.command("CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 0 0");
  const both = await Promise.all([follow(own), follow(foreign)]);
  await publish(own, "x".repeat(40_000_000));
  for (const stream of both) {
    await stream.closed;
    expect(stream.text()).toMatch(/: close lost\n/);
  }
  const again = await follow(foreign);
  await publish(foreign, `{"type":"scan.delta","data":{"again":1}}`);
  await again.until(`{"again":1}`);
});

test("what is published on channels whose names only look alike reaches no client", async () => {
  const stream = await follow(own);
  const event = `{"type":"scan.delta","data":{"strange":1}}`;
  for (const name of [
    `scanstream:2:${own.channel.toUpperCase()}`,
    `scanstream:2:${own.channel}:x`,
    `scanstream:2:${own.channel} `,
    `scanstream:02:${own.channel}`,
    `scanstream:3:${own.channel}`,
    own.channel,
    `scanstream:2:${foreign.channel}`,
    "*",
  ]) {
    await faulty.backends.redis.command("PUBLISH", name, event);
  }
  await publish(own, `{"type":"scan.delta","data":{"last":1}}`);
  await stream.until(`{"last":1}`);
  expect(stream.text()).not.toContain("strange");
});
