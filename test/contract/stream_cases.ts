import assert from "node:assert/strict";
import {
  call,
  createScan,
  eventually,
  keyOf,
  openStream,
  openStuckReader,
  patch,
  refused,
  send,
  type GatewayCases,
  type StreamReader,
} from "./harness.ts";

const progress = (n: number) => ({ type: "scan.progress", data: { n } });

/** Promises of an event stream that a client can see. */
export const streamCases: GatewayCases = {
  "the head of a stream is as promised, and the first bytes come at once": async (gateway) => {
    const scan = await createScan(gateway);
    const stream = await openStream(gateway, scan.event_stream, keyOf(gateway.tenant), {
      "accept-encoding": "gzip, br",
    });
    await stream.until(": terminal");
    stream.leave();
    assert.equal(stream.text(), "retry: 2000\n: open\n: terminal scan.end 1\n");
    assert.doesNotMatch(stream.text(), /^id:/m);
    const { headers } = stream.response;
    assert.equal(headers.get("content-type"), "text/event-stream; charset=utf-8");
    assert.equal(headers.get("cache-control"), "no-store, no-transform");
    assert.equal(headers.get("x-accel-buffering"), "no");
    assert.equal(headers.get("content-length"), null);
    assert.ok([null, "identity"].includes(headers.get("content-encoding")));
  },
  "a blank line only ever ends an event: none at the opening, at heartbeats and at the close": async (gateway) => {
    const scan = await createScan(gateway);
    const stream = await openStream(gateway, scan.event_stream, keyOf(gateway.tenant));
    await stream.until(/: heartbeat\n[^]*: heartbeat\n/);
    await send(gateway, scan, progress(1));
    await stream.until(/"n":1\}\n\n[^]*: heartbeat\n/);
    await patch(gateway, scan, { status: "failed" });
    const text = await stream.untilEnd();
    assert.match(text, /: close ended\n $/);
    // Several clients make an empty message of a block without data.
    const blocks = text.split("\n\n").slice(0, -1);
    assert.deepEqual(
      blocks.map((block) => block.replaceAll(/^(?:: .*|retry: \d+)\n/gm, "")),
      [
        'event: scan.progress\ndata: {"n":1}',
        `event: scan.end\ndata: {"scan_id":"${scan.id}","status":"failed","pass":0,"fail":0,"manual":0,"not_applicable":0}`,
      ],
    );
  },
  "HEAD opens no stream": async (gateway) => {
    const { event_stream: path } = await createScan(gateway);
    assert.equal((await call(gateway, path, { method: "HEAD", as: keyOf(gateway.tenant) })).status, 405);
  },
  "S5: an idle stream has a heartbeat, and one that the client left frees its subscription": async (gateway) => {
    const control = gateway.control;
    const scan = await createScan(gateway);
    const [first, second] = [
      await openStream(gateway, scan.event_stream, keyOf(gateway.tenant)),
      await openStream(gateway, scan.event_stream, keyOf(gateway.tenant)),
    ];
    assert.equal(await control.subscriptionCount(scan.channel), 1, "two streams of a channel share a subscription");
    await first.until(/: heartbeat\n[^]*: heartbeat\n/);
    first.leave();
    await second.until(/: heartbeat\n/);
    assert.equal(await control.subscriptionCount(scan.channel), 1);
    second.leave();
    await eventually(
      async () => (await control.subscriptionCount(scan.channel)) === 0,
      "the subscription of a channel without streams is given up",
    );
  },
  "S6: a tenant has as many streams as it may and no more, and a place that was left is free again": async (
    gateway,
  ) => {
    const { createTenant, maxStreamsPerTenant } = gateway.control;
    const tenant = await createTenant("Bounds");
    const scan = await createScan(gateway, tenant);
    const streams: StreamReader[] = [];
    for (let n = 0; n < maxStreamsPerTenant; n += 1) {
      streams.push(await openStream(gateway, scan.event_stream, keyOf(tenant)));
    }
    await refused(await call(gateway, scan.event_stream, { as: keyOf(tenant) }), 429);
    // Another tenant's place is no matter of this one.
    const elsewhere = await createScan(gateway);
    (await openStream(gateway, elsewhere.event_stream, keyOf(gateway.tenant))).leave();
    streams.pop()?.leave();
    await eventually(async () => {
      const again = await call(gateway, scan.event_stream, { as: keyOf(tenant) });
      await again.body?.cancel();
      return again.status === 200;
    }, "a place is free again");
    for (const stream of streams) stream.leave();
  },
  "S2: a reader that reads nothing at all is closed": async (gateway) => {
    const control = gateway.control;
    const tenant = await control.createTenant("Stuck");
    const scan = await createScan(gateway, tenant);
    const stuck = await openStuckReader(gateway, scan.event_stream, keyOf(tenant));
    assert.equal(await control.subscriptionCount(scan.channel), 1);
    // Up to 120 MB: the sockets of some machines hold more than 32 MiB.
    const filler = "x".repeat(60_000);
    // Only this stream holds the subscription.
    const isClosed = async () => (await control.subscriptionCount(scan.channel)) === 0;
    for (let n = 0; n < 2000 && !(await isClosed()); n += 1) {
      await control.publishRaw(scan.channel, JSON.stringify({ type: "scan.progress", data: { n, filler } }));
    }
    await eventually(isClosed, "the stream of a reader that reads nothing is closed");
    stuck.destroy();
  },
};
