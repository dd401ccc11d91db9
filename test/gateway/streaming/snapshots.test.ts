import { afterAll, expect, test, vi } from "vitest";
import { RequestAccount } from "../../../gateway/limits.ts";
import { makeChannelName } from "../../../shared/channel_name.ts";
import { createPublisher } from "../../../shared/send_event.ts";
import { defineEventStream, type Snapshot } from "../../../gateway/streaming/event_stream_definition.ts";
import { ada, createRouteApp, openTestDatabase } from "../../support/route_app.ts";
import { problemOf, readStream } from "../../support/test_gateway.ts";
import { bounds, resourceId, tenantId } from "../../support/stream_server.ts";

/** A stream while its snapshot is read, which a slow database makes long. */

const channel = makeChannelName("thing", tenantId, resourceId);
const path = `/${resourceId}/event-stream?snapshot=1`;
const head = "retry: 2000\n: open\n: terminal thing.end 1\n";
const complete = ": snapshot complete\n";
const nothing = { channels: 0, members: 0, subscriptions: 0, streams: 0 };

const database = await openTestDatabase();
afterAll(() => database.close());

/** A stream whose snapshot is read when `read` is called, as `state` is then, and is there when `answer` is called. */
function createApp() {
  const reading = Promise.withResolvers<void>();
  const hasRead = Promise.withResolvers<void>();
  const answering = Promise.withResolvers<void>();
  let isRequested = false;
  let state = 0;
  const getSnapshot = async (): Promise<Snapshot> => {
    isRequested = true;
    await reading.promise;
    const data = { thing_id: resourceId, n: state };
    hasRead.resolve();
    await answering.promise;
    return { events: [{ type: "thing.snapshot", data }] };
  };
  const getChannels = () => [channel];
  const definition = { prefix: "thing", getChannels, getSnapshot };
  const app = createRouteApp(database, defineEventStream(definition));
  return {
    app,
    /** Resolves when the state was read. */
    read() {
      reading.resolve();
      return hasRead.promise;
    },
    answer: answering.resolve,
    isRequested: () => expect.poll(() => isRequested).toBe(true),
    async update(payload: object = {}) {
      state += 1;
      await createPublisher(app.broker).sendEvent(channel, "thing.updated", { n: state, ...payload });
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const update = (n: number) => `event: thing.updated\ndata: {"n":${n}}\n\n`;
const snapshot = (n: number) => `event: thing.snapshot\ndata: {"thing_id":"${resourceId}","n":${n}}\n\n${complete}`;

test("S1: what happens while the snapshot is read follows it, in order and once", async () => {
  await using thing = createApp();
  const charge = vi.spyOn(RequestAccount.prototype, "chargeAnswer");
  let isAnswered = false;
  const opening = thing.app.get(path, ada);
  void opening.then(() => (isAnswered = true));
  await thing.isRequested();
  for (let n = 1; n <= 3; n += 1) await thing.update();
  await thing.read();
  for (let n = 4; n <= 6; n += 1) await thing.update();
  // Neither a head nor an event leaves before the snapshot.
  await new Promise(setImmediate);
  expect(isAnswered).toBe(false);
  thing.answer();
  const stream = await opening;
  // The tenant pays for it as for any answer.
  expect(charge).toHaveBeenCalledWith(snapshot(3).length);
  await thing.update();
  const updates = Array.from({ length: 7 }, (_, index) => update(index + 1)).join("");
  expect(await readStream(stream, update(7))).toBe(head + snapshot(3) + updates);
});

test.each<[what: string, happen: (thing: ReturnType<typeof createApp>) => Promise<void>]>([
  [
    "more than the buffer holds",
    async ({ update }) => {
      const text = "x".repeat(60_000);
      for (let sent = 0; sent <= bounds.maxBufferBytes; sent += text.length) {
        await update({ text });
        // Each in a turn of its own, as they arrive from a broker.
        await new Promise(setImmediate);
      }
    },
  ],
  ["a broker that is lost", ({ app }) => app.broker.close()],
])("S2: %s while the snapshot is read is 503, before any byte", async (_what, happen) => {
  await using thing = createApp();
  const opening = thing.app.get(path, ada);
  await thing.isRequested();
  await happen(thing);
  await thing.read();
  thing.answer();
  const refused = await opening;
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await problemOf(refused)).toMatchObject({ code: "unavailable" });
  await expect.poll(() => thing.app.streams.stats()).toEqual(nothing);
});

test("S5: a client that leaves while the snapshot is read frees everything at once", async () => {
  await using thing = createApp();
  const client = new AbortController();
  const opening = thing.app.get(path, ada, { signal: client.signal });
  await thing.isRequested();
  await thing.update();
  client.abort();
  await expect.poll(() => thing.app.streams.stats()).toEqual(nothing);
  await thing.read();
  thing.answer();
  expect((await opening).status).toBe(499);
  expect(thing.app.streams.stats()).toEqual(nothing);
});

test("a snapshot may be larger than the buffer: its client is not slow", async () => {
  const text = "x".repeat(60_000);
  const count = Math.ceil((2 * bounds.maxBufferBytes) / text.length);
  const events = Array.from({ length: count }, () => ({ type: "thing.snapshot" as const, data: { text } }));
  const getChannels = () => [channel];
  const definition = { prefix: "thing", getChannels, getSnapshot: async () => ({ events }) };
  await using app = createRouteApp(database, defineEventStream(definition));
  const stream = await app.get(path, ada);
  expect((await readStream(stream, complete)).length).toBeGreaterThan(2 * bounds.maxBufferBytes);
});
