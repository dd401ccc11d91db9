import { afterAll, beforeAll, expect, test } from "vitest";
import { sql } from "drizzle-orm";
import type { Database } from "../../../../drizzle/database.ts";
import { everyTenant, read, write } from "../../../../drizzle/transactions.ts";
import { openTestPglite } from "../../../support/pglite.ts";
import { runSql, toSql, watchDatabase, type SentQuery } from "../../../support/watched_database.ts";
import {
  createScan,
  problemOf,
  readStream,
  startTestGateway,
  type TestGateway,
} from "../../../support/test_gateway.ts";

let pglite: Database;
let gateway: TestGateway;
let sent: (readonly SentQuery[])[] = [];
/** Transactions that read, since the count was set. */
let reads = 0;
/** Before and after each transaction that reads: a database that is slow. */
let slow: { readonly before: () => Promise<unknown>; readonly after: () => Promise<unknown> } | null = null;

const isSnapshot = ({ sql: text }: SentQuery) => /^select .* from "scans" where .*'pending', 'running'/.test(text);

beforeAll(async () => {
  pglite = await openTestPglite();
  const database = watchDatabase(pglite, async (run, { settings, queries }) => {
    sent.push(queries);
    if (settings.access !== "read") return run();
    reads += 1;
    await slow?.before();
    const rows = await run();
    await slow?.after();
    return rows;
  });
  gateway = await startTestGateway({}, { database });
});
afterAll(() => gateway.stop());

const stream = "/api/v1/event-stream";
const key = () => `Api-Key ${gateway.acme.apiKey}`;
const token = () => `Bearer ${gateway.acme.token}`;
const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
const eventsIn = (text: string) =>
  [...text.matchAll(/event: (\S+)\ndata: (.*)\n\n/g)].map(([, type = "", data = ""]) => ({
    type,
    data: JSON.parse(data) as Readonly<Record<string, unknown>>,
  }));

test("S1: with a database that takes 200 ms, the snapshot and then what happened since: nothing lost, nothing twice", async () => {
  const old = await createScan(gateway, gateway.acme);
  const patch = (n: number) =>
    gateway.request(`/api/v1/scans/${old.id}`, {
      method: "PATCH",
      as: key(),
      json: { status: "running", checks_done: n },
    });
  const created: string[] = [];
  const create = async () => created.push((await createScan(gateway, gateway.acme)).id);
  let isRead = false;
  reads = 0;
  slow = {
    async before() {
      // The first one finds the channels.
      if (reads !== 2) return;
      await Promise.all([create(), patch(1)]);
      await pause();
    },
    async after() {
      if (reads !== 2) return;
      isRead = true;
      await Promise.all([create(), patch(2)]);
      await pause();
    },
  };
  const response = await gateway.request(`${stream}?snapshot=1`, { as: key() });
  slow = null;
  expect(isRead).toBe(true);
  const last = await createScan(gateway, gateway.acme);
  await patch(3);
  const text = await readStream(
    response,
    new RegExp(`"id":"${last.id}"[^]*"checks_done":3|"checks_done":3[^]*"id":"${last.id}"`),
  );
  const [before = "", after = ""] = text.split(": snapshot complete\n");
  const [count, ...snapshots] = eventsIn(before);
  expect(count).toEqual({
    type: "tenant.snapshot",
    data: {
      tenant_id: gateway.acme.id,
      count: 2,
      monitors: 0,
      organizations: 0,
    },
  });
  expect(snapshots.map(({ type, data }) => [type, data["id"], data["checks_done"]])).toEqual([
    ["scan.snapshot", created[0], 0],
    ["scan.snapshot", old.id, 1],
  ]);
  const events = eventsIn(after);
  const createdAfter = events.filter(({ type }) => type === "scan.created").map(({ data }) => data["id"]);
  expect(createdAfter).toEqual([...created, last.id]);
  const done = events.filter(({ type }) => type === "scan.updated").map(({ data }) => Number(data["checks_done"]));
  expect(done).toEqual(done.toSorted((one, other) => one - other));
  expect(done.at(-1)).toBe(3);
});

test("S3: tenants that open their streams at the same time each get their own snapshot", async () => {
  const scans = { acme: await createScan(gateway, gateway.acme), globex: await createScan(gateway, gateway.globex) };
  const names = ["acme", "globex", "acme", "globex", "acme", "globex"] as const;
  // So that all have asked before the first has its answer.
  slow = { before: pause, after: pause };
  const opened = names.map(async (name) => {
    const response = await gateway.request(`${stream}?snapshot=1`, { as: `Api-Key ${gateway[name].apiKey}` });
    return readStream(response, ": snapshot complete\n");
  });
  const texts = await Promise.all(opened);
  slow = null;
  for (const [index, text] of texts.entries()) {
    const [own, foreign] = names[index] === "acme" ? (["acme", "globex"] as const) : (["globex", "acme"] as const);
    expect(text).toContain(scans[own].id);
    expect(text).not.toContain(scans[foreign].id);
    expect(text).not.toContain(gateway[foreign].id);
  }
});

test("S3: one foreign scan among several is as one that never was: the whole is 404", async () => {
  const own = await createScan(gateway, gateway.acme);
  const foreign = await createScan(gateway, gateway.globex);
  for (const id of [foreign.id, crypto.randomUUID()]) {
    const response = await gateway.request(`${stream}?scan_id=${own.id}&scan_id=${id}`, { as: key() });
    expect(await problemOf(response)).toMatchObject({ status: 404, detail: "No such scan" });
  }
});

test("S4: after a key's revocation its streams of a tenant and of several scans are closed", async () => {
  const brief = await startTestGateway({ EVENTSTREAM_RECHECK_SECONDS: "1" });
  const scans = await Promise.all([createScan(brief, brief.acme), createScan(brief, brief.acme)]);
  const as = `Api-Key ${brief.acme.apiKey}`;
  const several = `${stream}?${scans.map(({ id }) => `scan_id=${id}`).join("&")}`;
  const streams = await Promise.all(
    [stream, several, `${stream}?snapshot=1`].map((path) => brief.request(path, { as })),
  );
  await brief.gateway.admin("api-key.revoke", { id: brief.acme.apiKeyId });
  for (const open of streams) expect(await readStream(open, /^\u0000/)).toMatch(/: close revoked\n $/);
  expect((await brief.request(several, { as })).status).toBe(401);
  await brief.stop();
});

test("a stream of 100 scans costs one round trip to the database, its snapshot another", async () => {
  const ids = await Promise.all(Array.from({ length: 100 }, async () => (await createScan(gateway, gateway.acme)).id));
  const path = `${stream}?${ids.map((id) => `scan_id=${id}`).join("&")}`;
  const costOf = async (query: string) => {
    sent = [];
    const response = await gateway.request(path + query, { as: token() });
    await readStream(response, query === "" ? ": open\n" : ": snapshot complete\n");
    return sent.length;
  };
  expect(await costOf("")).toBe(1);
  expect(await costOf("&snapshot=1")).toBe(2);
});

test("a tenant's snapshot has its newest 1,000 unfinished scans, found by their index", async () => {
  const { id: tenantId } = gateway.globex;
  await write(pglite, everyTenant, (db) =>
    db.execute(sql`
      insert into scans (tenant_id, status, created_at, ended_at)
      select ${tenantId}::uuid, case when n <= 1002 then 'running' else 'completed' end,
        now() - n * interval '1 second', case when n <= 1002 then null else now() end
      from generate_series(1, 6000) n`),
  );
  await runSql(pglite, "analyze scans");
  sent = [];
  const response = await gateway.request(`${stream}?snapshot=1`, { as: `Api-Key ${gateway.globex.apiKey}` });
  const events = eventsIn(await readStream(response, ": snapshot complete\n"));
  expect(events[0]?.data["count"]).toBe(1000);
  const createdAt = events.slice(1).map(({ data }) => String(data["created_at"]));
  expect(createdAt).toHaveLength(1000);
  expect(createdAt).toEqual(createdAt.toSorted().toReversed());
  const {
    rows: [newest],
  } = await write(pglite, everyTenant, (db) =>
    db.execute<{ at: string }>(sql`select max(created_at) as at from scans where tenant_id = ${tenantId}::uuid`),
  );
  expect(Date.parse(createdAt[0] ?? "")).toBe(Date.parse(newest?.at ?? ""));

  const query = sent.flat().find(isSnapshot);
  const { rows: plan } = await read(pglite, { tenantId }, (db) =>
    db.execute(toSql({ sql: `explain ${query?.sql}`, params: query?.params ?? [] })),
  );
  expect(plan.flatMap((row) => Object.values(row)).join("\n")).toContain("scans_unfinished");
});
