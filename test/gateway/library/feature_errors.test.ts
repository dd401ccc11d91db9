import { sql } from "drizzle-orm";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { afterAll, expect, test } from "vitest";
import { createLog } from "../../../gateway/observability/log.ts";
import {
  allow,
  anyone,
  createGateway,
  defineEventStream,
  defineFeature,
  migrate,
  readJson,
  serve,
  type Allowed,
  type ChannelsRequest,
  type Feature,
} from "../../../gateway/library/gateway.ts";
import { memory } from "../../../gateway/library/memory.ts";
import { pglite } from "../../../gateway/library/pglite.ts";
import { postgres } from "../../../gateway/library/postgres.ts";
import { openTestDatabase } from "../../../gateway/library/testing.ts";
import { makeChannelName } from "../../../shared/channel_name.ts";
import { PermissionDenied } from "../../../shared/app_error.ts";
import { problemOf, readStream } from "../../support/test_gateway.ts";

/** Mistakes of a feature, through the interface that everybody has. */

const id = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const otherTenantId = "22222222-2222-4222-8222-222222222222";

type GetChannels = Parameters<typeof defineEventStream>[0]["getChannels"];

function featureOf(prefix: string, getChannels: GetChannels): Feature {
  return defineFeature({ prefix, eventStreams: { [`/${prefix}s`]: defineEventStream({ prefix, getChannels }) } });
}

const database = await openTestDatabase({ features: [] });
afterAll(() => database.close());

/** A gateway of these features, the requests of a tenant with its key, and the errors that were logged. */
async function startOwn(features: readonly Feature[], bounds = {}) {
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const gateway = await createGateway({ features, database, broker: memory(), log, bounds });
  const { id: tenantId, apiKey } = await database.createTenant("Acme");
  const headers = { authorization: `Api-Key ${apiKey}`, "content-type": "application/json" };
  return {
    tenantId,
    send: (path: string, init: RequestInit = {}) =>
      gateway.fetch(new Request(`http://gateway.test/api/v1${path}`, { ...init, headers })),
    errors: () => lines.filter((line) => line.includes('"error"')).join(),
    [Symbol.asyncDispose]: () => gateway.close(),
  };
}

const healthy = featureOf("healthy", ({ principal }) => [makeChannelName("healthy", principal.tenantId, id)]);

const mistakes: readonly (readonly [what: string, getChannels: unknown, status: number, said: RegExp])[] = [
  ["throws", () => Promise.reject(new Error("no such column")), 500, /no such column/],
  ["throws a text", () => Promise.reject("no such row"), 500, /threw no such row: expected an Error/],
  ["returns nothing", () => undefined, 500, /getChannels of the feature .* returned nothing: expected a list/],
  ["returns a malformed channel", () => ["broken:x"], 403, /getChannels of the feature .* the name has 2 parts/],
  ["returns another's channel", () => [makeChannelName("broken", otherTenantId, id)], 403, /is of another tenant/],
  [
    "returns more channels than a stream has",
    ({ principal }: ChannelsRequest) =>
      Array.from({ length: 101 }, (_, n) => makeChannelName("broken", principal.tenantId, `${n}`)),
    500,
    /getChannels of the feature .* returned 101 channels: expected at most 100/,
  ],
  ["writes", ({ db }: ChannelsRequest) => db.execute(sql`delete from runs`), 500, /read-only transaction/],
  ["hangs", () => new Promise(() => {}), 503, /getChannels of the feature .* did not answer within 4 s/],
];

test.each(mistakes)(
  "a feature whose getChannels %s is refused and logged by name, and another's stream stays open",
  async (_what, getChannels, status, said) => {
    await using gateway = await startOwn([featureOf("broken", getChannels as GetChannels), healthy]);
    const stream = await gateway.send(`/healthys/${id}/event-stream`);
    const refusal = await gateway.send(`/brokens/${id}/event-stream`);
    expect(refusal.status).toBe(status);
    expect((await problemOf(refusal)).detail).not.toMatch(said);
    expect(gateway.errors()).toMatch(said);
    expect(await readStream(stream, ": open")).not.toContain(": close");
  },
);

const wrongEvent = { type: "broken.done", data: {}, payload: {} } as never;
const broken = defineFeature({
  prefix: "broken",
  eventStreams: {
    "/brokens": defineEventStream({
      prefix: "broken",
      getChannels: ({ principal }) => [makeChannelName("broken", principal.tenantId, id)],
      getSnapshot: async ({ query: { of } }) => {
        const event = of === "created" ? { type: "broken.created", data: {} } : wrongEvent;
        return (of === "list" ? [event] : { events: [event] }) as never;
      },
    }),
  },
  onPublish: async (_tx, [event], { tenantId }) => {
    const returns = event?.payload["returns"];
    if (returns === "nothing") return undefined as never;
    const channel = makeChannelName("broken", returns === "foreign" ? otherTenantId : tenantId, "other");
    return [{ ...(wrongEvent as object), channel } as never];
  },
  routes: ({ sendEvent }) =>
    new Hono<Allowed>()
      .onError((error) => {
        throw error;
      })
      .post("/brokens", allow("publish"), async (c) => c.json(await readJson(c.req.raw, { maxBytes: 10 })))
      .get("/fetched", allow("read"), () => fetch("data:,fetched"))
      .get("/nested", allow("read"), async ({ var: { read } }) => read(() => read(async () => new Response())))
      .post("/refused", allow("publish"), () => {
        throw new HTTPException(418, { message: "A teapot" });
      })
      .post("/announced", allow("publish"), async (c) => {
        const channel = makeChannelName("broken", c.var.principal.tenantId, id);
        await sendEvent(channel, "broken.done" as "broken.end", {} as never);
        return c.body(null);
      }),
});
const published = (data: object) => ({ type: "broken.updated", data, delivery_id: "p.1" });

const snapshot = `/brokens/${id}/event-stream?snapshot=1`;
const events = "/channels/:channel/events";

/** Sends a request to a gateway of the broken feature; its channel stands for `:channel`. */
async function sendBroken(path: string, json?: object) {
  await using gateway = await startOwn([broken]);
  const body = json === undefined ? {} : { method: "POST", body: JSON.stringify(json) };
  const channel = makeChannelName("broken", gateway.tenantId, id);
  const { status } = await gateway.send(path.replace(":channel", channel), body);
  return { status, errors: gateway.errors() };
}

test.each<[what: string, path: string, said: RegExp, json?: object]>([
  ["a snapshot's event", snapshot, /getSnapshot of .*broken.*\.done.* verb of created/],
  ["another event in a snapshot", `${snapshot}&of=created`, /getSnapshot .*broken.created.* is not a snapshot/],
  ["a list as a snapshot", `${snapshot}&of=list`, /getSnapshot .* returned \[.*: expected \{ events: /],
  ["an event of a route", "/announced", /\.done.* verb of created/, {}],
  ["a transaction inside another", "/nested", /Cannot begin a transaction inside another/],
  ["an event that onPublish returns", events, /onPublish of .*broken.*\.done.* verb of created/, published({})],
  ["another tenant's event", events, /onPublish .* is not a channel of the tenant/, published({ returns: "foreign" })],
  ["no list of onPublish", events, /onPublish .* returned nothing: expected a list/, published({ returns: "nothing" })],
])("%s is answered as the feature's own mistake", async (_what, path, said, json) => {
  expect(await sendBroken(path, json)).toEqual({ status: 500, errors: expect.stringMatching(said) });
});

test.each<[what: string, status: number, path: string, json?: object]>([
  ["a refusal of Hono's own", 418, "/refused", {}],
  ["an answer whose headers cannot be changed", 200, "/fetched"],
  ["a body over its bound", 413, "/brokens", { a: "longer than 10 bytes" }],
])("%s is no mistake: %i", async (_what, status, path, json) => {
  expect(await sendBroken(path, json)).toEqual({ status, errors: "" });
});

test("S4: a stream that its feature allows no longer is closed by the recheck, and another of the same caller stays", async () => {
  let isAllowed = true;
  const shared = featureOf("shared", ({ principal }) => {
    if (!isAllowed) throw new PermissionDenied("Not shared with you");
    return [makeChannelName("shared", principal.tenantId, id)];
  });
  await using gateway = await startOwn([shared, healthy], { recheckSeconds: 0.5 });
  const open = (mount: string) => gateway.send(`/${mount}/${id}/event-stream`);
  const other = await open("healthys");
  const streams = await Promise.all(["shareds", "%73hareds"].map(open));
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  isAllowed = false;
  for (const stream of streams) expect(await readStream(stream, /^\u0000/)).toMatch(/: close revoked\n $/);
  expect(await readStream(other, ": open")).not.toContain(": close");
});

const whole = { features: [healthy], database, broker: memory() };
const nowhere = postgres({ url: "postgres://a:b@127.0.0.1:9/x" });
const wrong: readonly (readonly [call: () => unknown, named: RegExp])[] = [
  [() => createGateway({ ...whole, streamTokenSecrt: "x" } as never), /did you mean "streamTokenSecret"\?/],
  [() => createGateway({ ...whole, streamTokenSecret: "short" }), /streamTokenSecret: expected 32 random bytes/],
  [() => createGateway({ ...whole, auth: { issuer: "x", audience: "api" } } as never), /auth: expected url or jwks/],
  [() => createGateway(undefined as never), /Cannot call createGateway: the options: is required/],
  [() => createGateway({ ...whole, broker: memory as never }), /broker: expected an object, found Function/],
  [async () => serve(await createGateway(whole), { port: 70_000 }), /serve: port: expected a port from 0 to 65535/],
  [() => openTestDatabase({ features: [healthy, healthy] }), /two of them have the channel prefix "healthy"/],
  [() => createGateway({ ...whole, bounds: { maxStreams: 0 } }), /bounds\.maxStreams: expected a number above 0/],
  [() => postgres({ url: "mysql://a:b@127.0.0.1/x" }), /url: expected postgres:\/\/user:password@host\/database$/],
  [() => migrate({ database: pglite() } as never), /Cannot call migrate: features: is required/],
  [() => migrate({ database: nowhere, features: [] }), /the database cannot be reached: check its host/],
  [() => createGateway({ ...whole, features: [healthy, healthy] }), /two of them have the channel prefix "healthy"/],
  [
    () => defineFeature({ ...healthy, prefix: "task" }),
    /Cannot define the feature "task": the event stream at "\/healthys" has the prefix "healthy"/,
  ],
  [() => defineFeature({ prefix: "My jobs" }), /prefix "My jobs" is not valid/],
  [() => defineFeature({ prefix: "2fa" }), /prefix "2fa" is not valid: its terminal event has to begin with a letter/],
  [() => defineFeature({ prefix: "a", migrations: () => new URL("file:///") }), /tables: required with migrations/],
  [() => defineFeature({ prefix: "a", tables: [{} as never] }), /tables\.0: expected a pgTable/],
  [() => allow("writ" as "read"), /Cannot allow "writ": expected one of read, /],
  [
    () => createGateway({ ...whole, features: [defineFeature({ prefix: "x", routes: () => undefined as never })] }),
    /the feature "x": its routes did not return a Hono/,
  ],
  [() => createGateway({ ...whole, corsOrigins: ["https://a.example/"] }), /corsOrigins\.0: expected an origin/],
  ...["/:id{[0-9]+}/event-stream", "/:id/", "jobs", "/api/v1/jobs"].map((path): (typeof wrong)[number] => [
    () => defineEventStream({ prefix: "a", getChannels: () => [], path }),
    /path: expected a path like \/jobs or \/:id\/event-stream/,
  ]),
  ...[
    new Hono<Allowed>().get("/x", (c) => c.text("secret")),
    new Hono<Allowed>().all("/x", (c) => c.text("secret")),
    // A handler before the declaration is reached without it.
    new Hono<Allowed>().get("/x", (c) => c.text("secret"), anyone),
  ].map((routes): (typeof wrong)[number] => [
    () => createGateway({ ...whole, features: [defineFeature({ prefix: "x", routes: () => routes })] }),
    /(?:GET|ALL) \/api\/v1\/x: it declares no permission/,
  ]),
  ...["GET /session", "POST /stream-tokens", "ALL /healthys/:name/event-stream"].map(
    (route): (typeof wrong)[number] => [
      () => {
        const [method = "", path = ""] = route.split(" ");
        const routes = () => new Hono<Allowed>().on(method, path, anyone, (c) => c.text("hidden"));
        return createGateway({ ...whole, features: [healthy, defineFeature({ prefix: "x", routes })] });
      },
      /Cannot mount (?:GET|POST) .*: another route has this method and path/,
    ],
  ),
];

test.each(wrong)("wrong options %# are an error that names the option", async (call, named) => {
  await expect((async () => call())()).rejects.toThrow(named);
});
