import { expect, test } from "vitest";
import { AppError } from "../../../shared/app_error.ts";
import type { Broker } from "../../../shared/broker.ts";
import { createMemoryBroker } from "../../../shared/brokers/memory.ts";
import { numbered } from "../../support/published.ts";
import { createScan, readStream, openTestGateway } from "../../support/test_gateway.ts";

/** A stream whose event never comes is closed all the same, by the authority recheck: not sooner than that event may still come. */

/** Channels whose events the broker does not take. */
const refused = new Set<string>();
/** Its subscription waits to be confirmed. */
let heldChannel = "";
const [asked, confirming] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];

const memory = createMemoryBroker();
const broker: Broker = {
  ...memory,
  async publish(channel, message) {
    if (refused.has(channel)) throw new AppError("unavailable", "The broker cannot be reached");
    await memory.publish(channel, message);
  },
  async subscribe(channel, handlers, signal) {
    if (channel === heldChannel) {
      asked.resolve();
      await confirming.promise;
    }
    await memory.subscribe(channel, handlers, signal);
  },
};
const gateway = await openTestGateway({ EVENTSTREAM_RECHECK_SECONDS: "2" }, { broker });
const as = `Api-Key ${gateway.acme.apiKey}`;

const complete = (id: string) =>
  gateway.request(`/api/v1/scans/${id}`, { method: "PATCH", json: { status: "completed" }, as });

// The three wait for the same five seconds.
test.concurrent("a stream whose scan.end the broker did not take is closed, and its reconnect is 204", async () => {
  const scan = await createScan(gateway, gateway.acme);
  const running = await createScan(gateway, gateway.acme);
  const stream = await gateway.request(scan.event_stream, { as });
  const other = await gateway.request(running.event_stream, { as });
  refused.add(scan.channel);
  expect((await complete(scan.id)).status).toBe(200);
  const text = await readStream(stream, /^\u0000/);
  expect(text).toMatch(/: close ended\n $/);
  expect(text).not.toContain("event: scan.end");
  expect((await gateway.request(scan.event_stream, { as })).status).toBe(204);
  // Another one of the same tenant, rechecked in the same query, and still running.
  await complete(running.id);
  expect(await readStream(other, /^\u0000/)).toContain("event: scan.end");
});

test.concurrent("a stream whose scan ended while it waited for the broker is closed", async () => {
  const scan = await createScan(gateway, gateway.acme);
  heldChannel = scan.channel;
  const opening = gateway.request(scan.event_stream, { as });
  await asked.promise;
  await complete(scan.id);
  confirming.resolve();
  const stream = await opening;
  expect(stream.status).toBe(200);
  expect(await readStream(stream, /^\u0000/)).toMatch(/: close ended\n $/);
});

test.concurrent("S2: a stream that missed an event which was stored is closed as lost; one that missed nothing stays", async () => {
  const [scan, other] = [await createScan(gateway, gateway.acme), await createScan(gateway, gateway.acme)];
  const stream = await gateway.request(scan.event_stream, { as });
  const whole = await gateway.request(other.event_stream, { as });
  const { events } = numbered([1, 2].map((n) => ({ type: "scan.progress", data: { scan_id: scan.id, n } })));
  const publish = async (event: unknown) =>
    (await gateway.request(`/api/v1/channels/${scan.channel}/events`, { json: event, as })).json();
  expect(await publish(events[0])).toEqual({ stored: 1, live: true });
  refused.add(scan.channel);
  expect(await publish(events[1])).toEqual({ stored: 1, live: false });
  const text = await readStream(stream, /^\u0000/);
  expect(text).toContain('"n":1');
  expect(text).toMatch(/: close lost\n $/);
  await complete(other.id);
  expect(await readStream(whole, /^\u0000/)).toContain("event: scan.end");
});
