import { afterAll, expect, test, vi } from "vitest";
import { makeChannelName } from "../../../shared/channel_name.ts";
import { createPublisher } from "../../../shared/send_event.ts";
import { RequestAccount } from "../../../gateway/limits.ts";
import { sha256Hex } from "../../../gateway/auth/sha256.ts";
import {
  defineEventStream,
  ended,
  type ChannelsRequest,
  type Snapshot,
} from "../../../gateway/streaming/event_stream_definition.ts";
import { ada, createRouteApp, openTestDatabase, stranger } from "../../support/route_app.ts";
import { bounds, otherTenantId, resourceId, tenantId } from "../../support/stream_server.ts";
import { problemOf, readStream } from "../../support/test_gateway.ts";

const channel = makeChannelName("thing", tenantId, resourceId);
const path = `/${resourceId}/event-stream`;

const database = await openTestDatabase();
afterAll(() => database.close());

const ownChannel = ({ principal, params }: ChannelsRequest) => [
  makeChannelName("thing", principal.tenantId, params.id),
];

function createApp(
  getChannels: Parameters<typeof defineEventStream>[0]["getChannels"] = ownChannel,
  given?: Parameters<typeof createRouteApp>[2],
) {
  const parameters = ["a", "b", "since"].map((name) => ({ name, in: "query" as const, schema: { type: "string" } }));
  return createRouteApp(database, defineEventStream({ prefix: "thing", parameters, getChannels }), given);
}

/** Leaves a stream that was opened: a drain waits for one that nobody reads. */
async function statusOf(answer: Promise<Response>): Promise<number> {
  const { body, status } = await answer;
  await body?.cancel();
  return status;
}

test.each(["not-a-uuid", resourceId.replace("3", "G"), `${resourceId}%00`, `${resourceId}'--`])(
  "the route answers 404 to %s and 403 to somebody who is no member, without a query for the resource",
  async (id) => {
    await using app = createApp();
    expect((await app.get(`/${id}/event-stream`, ada)).status).toBe(404);
    expect((await app.get(`/${id}/event-stream`, stranger)).status).toBe(403);
    // The two memberships.
    expect(app.statements()).toBe(2);
  },
);

test.each([
  ["another tenant's", makeChannelName("thing", otherTenantId, resourceId)],
  ["a malformed", "thing:not-a-tenant:1"],
  ["an empty", ""],
  ["one with a line break", `${channel}\n`],
])("S3: the route refuses %s channel with 403, whatever getChannels says", async (_name, name) => {
  for (const result of [[name], [channel, name], ended(name)]) {
    await using app = createApp(() => result);
    const response = await app.get(path, ada);
    expect(response.status).toBe(403);
    expect(await response.text()).not.toContain(otherTenantId);
    expect(app.streams.stats().streams).toBe(0);
  }
});

// `library/feature_errors.test.ts` has its other mistakes.
test("a channel of another feature is the feature's bug: 500", async () => {
  await using app = createApp(() => [makeChannelName("scan", tenantId, resourceId)]);
  expect((await app.get(path, ada)).status).toBe(500);
});

// `contract/tenant_cases.ts` has what else a stream token opens, and what not.
test("a stream token opens its stream in any order of the query, and no wider one, ended or not", async () => {
  await using app = createApp();
  const narrower = { ...ada, onlyStream: await sha256Hex(`/api/v1/things${path}?a=1&b=1&b=2`) };
  for (const sameStream of ["?b=2&access_token=x&a=1&b=1", "?b=1&a=1&b=2&unknown=1"]) {
    expect(await statusOf(app.get(`${path}${sameStream}`, narrower))).toBe(200);
  }
  expect((await app.get(`${path}?b=1&a=1`, narrower)).status).toBe(403);
  expect((await app.get(path, narrower)).status).toBe(403);
  await using over = createApp(() => ended(channel));
  expect((await over.get(path, narrower)).status).toBe(403);
});

test("getChannels sees the path's and the query's parameters, but no token", async () => {
  const getChannels = vi.fn(ownChannel);
  await using app = createApp(getChannels);
  await statusOf(app.get(`${path}?access_token=secret&since=1&since=2&unknown=1`, ada));
  expect(getChannels.mock.calls[0]?.[0]).toMatchObject({ principal: ada, params: { id: resourceId } });
  expect(getChannels.mock.calls[0]?.[0].query).toEqual({ since: "1" });
  expect(getChannels.mock.calls[0]?.[0].queryAll("since")).toEqual(["1", "2"]);
});

test("streams that differ in nothing that is read are rechecked once, and a hundred in one transaction", async () => {
  const getChannels = vi.fn(ownChannel);
  await using app = createApp(getChannels, { recheckSeconds: 1 });
  const queries = ["", "?unknown=1", "?unknown=2", ...Array.from({ length: 100 }, (_, n) => `?since=${n}`)];
  const streams = await Promise.all(queries.map((query) => app.get(path + query, ada)));
  getChannels.mockClear();
  // A recheck that began before all streams were open is a part of one.
  await expect.poll(() => getChannels.mock.calls.length).toBeGreaterThan(300);
  const requests = getChannels.mock.calls.map(([request]) => request);
  const seen = [...Map.groupBy(requests, ({ db }) => db).values()].map((one) => one.map(({ query }) => query["since"]));
  expect(new Set(seen.flat()).size).toBe(101);
  for (const values of seen) expect(new Set(values).size).toBe(values.length);
  expect(Math.max(...seen.map(({ length }) => length))).toBe(100);
  await Promise.all(streams.map(async ({ body }) => body?.cancel()));
  for (const query of [`since=${"x".repeat(8192)}`, "snapshot=1"])
    expect((await app.get(`${path}?${query}`, ada)).status).toBe(400);
});

// A stream while its snapshot is read, which a slow database makes long.

const snapshotPath = `${path}?snapshot=1`;
const head = "retry: 2000\n: open\n: terminal thing.end 1\n";
const complete = ": snapshot complete\n";
const nothing = { channels: 0, members: 0, subscriptions: 0, streams: 0 };

const streamWith = (getSnapshot: () => Promise<Snapshot>) =>
  defineEventStream({ prefix: "thing", getChannels: () => [channel], getSnapshot });

/** A stream whose snapshot is read when `read` is called, as `state` is then, and is there when `answer` is called. */
function createThing() {
  const requested = Promise.withResolvers<void>();
  const reading = Promise.withResolvers<void>();
  const hasRead = Promise.withResolvers<void>();
  const answering = Promise.withResolvers<void>();
  let state = 0;
  const getSnapshot = async (): Promise<Snapshot> => {
    requested.resolve();
    await reading.promise;
    const data = { thing_id: resourceId, n: state };
    hasRead.resolve();
    await answering.promise;
    return { events: [{ type: "thing.snapshot", data }] };
  };
  const app = createRouteApp(database, streamWith(getSnapshot));
  return {
    app,
    /** Resolves when the state was read. */
    read() {
      reading.resolve();
      return hasRead.promise;
    },
    answer: answering.resolve,
    isRequested: () => requested.promise,
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
  await using thing = createThing();
  const charge = vi.spyOn(RequestAccount.prototype, "chargeAnswer");
  let isAnswered = false;
  const opening = thing.app.get(snapshotPath, ada);
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

test.each<[what: string, happen: (thing: ReturnType<typeof createThing>) => Promise<void>]>([
  [
    "more than the buffer holds",
    async ({ update }) => {
      const text = "x".repeat(60_000);
      for (let sent = 0; sent <= bounds.maxBufferBytes; sent += text.length) {
        await update({ text });
        // Separates the events by turns, as they arrive from a broker.
        await new Promise(setImmediate);
      }
    },
  ],
  ["a broker that is lost", ({ app }) => app.broker.close()],
])("S2: %s while the snapshot is read is 503, before any byte", async (_what, happen) => {
  await using thing = createThing();
  const opening = thing.app.get(snapshotPath, ada);
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
  await using thing = createThing();
  const client = new AbortController();
  const opening = thing.app.get(snapshotPath, ada, { signal: client.signal });
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
  await using app = createRouteApp(
    database,
    streamWith(async () => ({ events })),
  );
  const stream = await app.get(snapshotPath, ada);
  expect((await readStream(stream, complete)).length).toBeGreaterThan(2 * bounds.maxBufferBytes);
});
