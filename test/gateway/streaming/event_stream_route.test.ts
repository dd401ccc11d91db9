import { afterAll, expect, test, vi } from "vitest";
import { makeChannelName } from "../../../shared/channel_name.ts";
import { sha256Hex } from "../../../gateway/auth/sha256.ts";
import { defineEventStream, ended, type ChannelsRequest } from "../../../gateway/streaming/event_stream_definition.ts";
import { ada, createRouteApp, openTestDatabase, stranger } from "../../support/route_app.ts";
import { otherTenantId, resourceId, tenantId } from "../../support/stream_server.ts";

const channel = makeChannelName("thing", tenantId, resourceId);
const path = `/${resourceId}/event-stream`;

const database = await openTestDatabase();
afterAll(() => database.close());

const ownChannel = ({ principal, params }: ChannelsRequest) => [
  makeChannelName("thing", principal.tenantId, params.id),
];

function createApp(
  getChannels: Parameters<typeof defineEventStream>[0]["getChannels"] = ownChannel,
  bounds?: Parameters<typeof createRouteApp>[2],
) {
  const parameters = ["a", "b", "since"].map((name) => ({ name, in: "query" as const, schema: { type: "string" } }));
  return createRouteApp(database, defineEventStream({ prefix: "thing", parameters, getChannels }), bounds);
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
  await statusOf(app.get(`${path}?access_token=secret&since=1&since=2&snapshot=1&unknown=1`, ada));
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
  expect((await app.get(`${path}?since=${"x".repeat(8192)}`, ada)).status).toBe(400);
});
